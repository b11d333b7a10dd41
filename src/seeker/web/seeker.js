// <seeker-search>: a grid of items to like and dislike, re-ranked after every click.

import * as service from "./service.js";

/** Make an element with properties and children. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

class SeekerSearch extends HTMLElement {
  #session = null;
  #known = new Map(); // items by id, as far as they were on screen
  #more = [];
  #busy = false;

  async connectedCallback() {
    this.#build();
    window.addEventListener("hashchange", () => this.#restore());
    await this.#restore();
  }

  #build() {
    this.words = element("input", {
      type: "search", placeholder: "Search, or add words: in blue", ariaLabel: "Words",
    });
    const form = element("form", { className: "words" }, this.words,
      element("button", { type: "submit", textContent: "Go" }));
    form.addEventListener("submit", (event) => { event.preventDefault(); this.#said(); });
    this.undoButton = this.#button("Undo", () => this.#do(() => service.undo(this.#session.id)));
    this.status = element("p", { className: "status", role: "status" });
    this.meter = element("meter", { min: 0, max: 1, ariaLabel: "How sure Seeker is" });
    this.liked = element("ul", { className: "tray", ariaLabel: "Liked" });
    this.disliked = element("ul", { className: "tray", ariaLabel: "Disliked" });
    this.grid = element("ul", { className: "grid", ariaLabel: "Items" });
    this.message = element("p", { className: "message", role: "alert" });
    this.credit = element("p", { className: "credit" });
    this.replaceChildren(
      element("header", {},
        element("h1", { textContent: "Seeker" }), form, this.undoButton,
        this.#button("Start anew", () => this.#start({}))),
      element("section", { className: "trays" }, this.liked, this.disliked),
      element("div", { className: "belief" }, this.meter, this.status),
      this.message, this.grid,
      this.moreButton = this.#button("Explore more", () => this.#explore()),
      this.credit);
  }

  #button(text, action) {
    const button = element("button", { type: "button", textContent: text });
    button.addEventListener("click", action);
    return button;
  }

  async #restore() {
    const id = location.hash.slice(1);
    if (this.#session && id === this.#session.id) return;
    if (!id) return this.#start({});
    try {
      this.#show(await service.open(id));
    } catch (problem) {
      if (problem.status === 404) await this.#start({});
      this.#say(problem.message);
    }
  }

  async #start(wish) {
    await this.#do(async () => {
      if (this.getAttribute("catalog")) wish.catalog = this.getAttribute("catalog");
      const session = await service.start(wish);
      history.pushState(null, "", `#${session.id}`);
      return session;
    });
  }

  async #said() {
    const text = this.words.value.trim();
    if (!text) return;
    this.words.value = "";
    if (this.#session.step === 0) await this.#start({ query: text });
    else await this.#do(() => service.say(this.#session.id, text));
  }

  /** Do something that answers with the session, one thing at a time. */
  async #do(action) {
    if (this.#busy) return;
    this.#busy = true;
    this.classList.add("busy");
    try {
      this.#say("");
      this.#show(await action());
    } catch (problem) {
      this.#say(problem.message);
      if (problem.status === 409) this.#show(await service.open(this.#session.id));
    } finally {
      this.#busy = false;
      this.classList.remove("busy");
    }
  }

  #click(item, verdict) {
    const shown = verdict === "clear" ? undefined : this.#onScreen();
    const card = this.grid.querySelector(`[data-id="${CSS.escape(item)}"]`);
    card?.classList.add(verdict);
    return this.#do(() => service.click(this.#session.id, this.#session.step, item, verdict, shown));
  }

  /** The ids of the cards that can be seen now; all of the first page if none is measured. */
  #onScreen() {
    const seen = [...this.grid.children].filter((card) => {
      const box = card.getBoundingClientRect();
      return box.bottom > 0 && box.top < innerHeight;
    });
    return (seen.length ? seen : [...this.grid.children]).map((card) => card.dataset.id);
  }

  async #explore() {
    const offset = this.#session.page.items.length + this.#more.length;
    try {
      const page = await service.items(this.#session.id, offset, 24);
      this.#more.push(...page.items);
      this.grid.append(...page.items.map((item) => this.#card(item)));
      this.moreButton.hidden = offset + page.items.length >= page.total;
    } catch (problem) {
      this.#say(problem.message);
    }
  }

  #show(session) {
    this.#session = session;
    this.#more = [];
    this.#credit(session.catalog);
    this.grid.replaceChildren(...session.page.items.map((item) => this.#card(item)));
    this.moreButton.hidden = session.page.items.length >= session.page.total;
    this.undoButton.disabled = session.step === 0;
    this.#tray(this.liked, session.likes, "Liked");
    this.#tray(this.disliked, session.dislikes, "Disliked");
    this.#belief(session);
  }

  #card(item) {
    this.#known.set(item.id, item);
    const face = item.media
      ? element("img", { src: item.media, alt: item.title, loading: "lazy" })
      : element("span", { className: "words-only", textContent: item.title });
    const card = element("li", { className: "card" }, face,
      element("span", { className: "title", textContent: item.title }),
      element("div", { className: "verdicts" },
        this.#verdict("like", "♥", item), this.#verdict("dislike", "✕", item)));
    card.dataset.id = item.id;
    return card;
  }

  #verdict(verdict, sign, item) {
    const button = this.#button(sign, () => this.#click(item.id, verdict));
    button.className = verdict;
    button.ariaLabel = `${verdict === "like" ? "Like" : "Dislike"} ${item.title}`;
    return button;
  }

  async #tray(tray, ids, name) {
    const catalog = this.#session.catalog;
    await Promise.all(ids.filter((id) => !this.#known.has(id)).map(async (id) => {
      this.#known.set(id, await service.item(catalog, id).catch(() => ({ id, title: id })));
    }));
    tray.replaceChildren(...ids.map((id) => {
      const item = this.#known.get(id);
      const button = this.#button("", () => this.#click(id, "clear"));
      button.ariaLabel = `${name}: ${item.title}. Clear it`;
      button.title = `${name}: ${item.title} (click to clear)`;
      button.append(item.media ? element("img", { src: item.media, alt: "" }) : item.title);
      return element("li", {}, button);
    }));
  }

  #belief({ belief, page, step }) {
    if (!belief) {
      this.status.textContent = "";
      return;
    }
    const total = Math.max(2, page.total);
    this.meter.value = 1 - Math.log(Math.max(1, belief.candidates)) / Math.log(total);
    const left = Math.round(belief.candidates).toLocaleString();
    const views = Object.entries(belief.views).sort((a, b) => b[1] - a[1]);
    const means = views.length > 1 && views[0][1] > 0.5 ? `; similar means mostly ${views[0][0]}` : "";
    this.status.textContent = step === 0
      ? "Like what comes close, dislike what does not."
      : `About ${left} of ${total.toLocaleString()} left${means}.`;
  }

  async #credit(name) {
    if (this.credit.dataset.of === name) return;
    this.credit.dataset.of = name;
    const about = await fetch(`/v1/catalogs/${name}`).then((answer) => answer.json()).catch(() => ({}));
    this.credit.textContent = about.about?.attribution ?? about.attribution ?? "";
  }

  #say(text) {
    this.message.textContent = text;
  }
}

customElements.define("seeker-search", SeekerSearch);
