// The search in a notebook: the same components, with a kernel in the place of the service. A kernel has no
// address: what would be fetched goes through the notebook's own channel, and pictures come inside the answers.

import { ApiClient } from "./api.js";
import { App } from "./app.js";

/** @import { Fetch } from "./api.js" */
/**
 * A widget's end of the channel, as anywidget hands it out.
 *
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(content: object, callbacks?: object, buffers?: ArrayBuffer[]) => void} send
 * @property {(name: string, handler: Function) => void} on
 * @property {(name: string, handler: Function) => void} off
 */
/** @typedef {{id?: number, status?: number, headers?: Record<string, string>, changed?: string}} Message */

/** Where the service would be: nothing is ever asked for there. */
const BASE = new URL("https://kernel.example/");
const NO_CONTENT = 204;

/**
 * Show the search of a widget.
 *
 * @param {Model} model @param {HTMLElement} place @param {string[]} styles
 * @returns {() => void} what ends it
 */
export function mount(model, place, styles) {
  const host = document.createElement("div");
  host.className = "seeker-widget";
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = styles.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  // Keys that mean something here are not commands of the notebook.
  host.addEventListener("keydown", (event) => event.stopPropagation());
  place.append(host);
  const channel = new KernelChannel(model);
  if (model.get("plain")) host.setAttribute("plain", "");
  const api = new ApiClient(BASE, channel.fetch);
  const app = new App(host, root, api, { kind: "session", id: model.get("session_id") });
  channel.onChange = (id) => {
    if (app.store.ref?.id === id) app.store.reload();
    else app.store.open({ kind: "session", id });
  };
  return () => {
    app.close();
    channel.close();
    host.remove();
  };
}

/** Requests and answers as messages: each answer has the number of its request. */
class KernelChannel {
  #model;
  #next = 0;
  /** @type {Map<number, (response: Response) => void>} */
  #waiting = new Map();
  /** Called with the id of a session that has changed in the kernel. @type {(id: string) => void} */
  onChange = () => {};

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    model.on("msg:custom", this.#receive);
  }

  close() {
    this.#model.off("msg:custom", this.#receive);
    this.#waiting.clear();
  }

  /** @type {Fetch} */
  fetch = async (url, init) => {
    const { signal, ...rest } = init;
    const request = new Request(url, rest);
    const content = await request.arrayBuffer();
    signal?.throwIfAborted();
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      signal?.addEventListener("abort", () => {
        this.#waiting.delete(id);
        reject(signal.reason);
      });
      const headers = Object.fromEntries(request.headers);
      const path = url.pathname + url.search;
      this.#model.send({ id, method: request.method, path, headers }, undefined, [content]);
    });
  };

  /** @param {Message} message @param {DataView<ArrayBuffer>[]} buffers */
  #receive = (message, buffers) => {
    if (message.changed !== undefined) return this.onChange(message.changed);
    const resolve = this.#waiting.get(message.id ?? -1);
    this.#waiting.delete(message.id ?? -1);
    const { status = 500, headers = {} } = message;
    resolve?.(new Response(status === NO_CONTENT ? null : (buffers[0] ?? null), { status, headers }));
  };
}
