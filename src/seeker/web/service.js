// The calls of the HTTP interface that the page needs. Every failure is an Error with a sentence.

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The service cannot be reached. Your clicks so far are kept.");
  }
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  const problem = new Error([content.detail, content.hint].filter(Boolean).join(" ") || answer.statusText);
  problem.status = answer.status;
  throw problem;
}

export const catalogs = () => ask("GET", "/v1/catalogs");
export const start = (wish) => ask("POST", "/v1/sessions", wish);
export const open = (id) => ask("GET", `/v1/sessions/${id}`);
export const click = (id, step, item, verdict, shown) =>
  ask("POST", `/v1/sessions/${id}/clicks`, { item, verdict, shown, step });
export const undo = (id) => ask("POST", `/v1/sessions/${id}/undo`);
export const say = (id, text) => ask("POST", `/v1/sessions/${id}/text`, { text });
export const items = (id, offset, limit) =>
  ask("GET", `/v1/sessions/${id}/items?offset=${offset}&limit=${limit}`);
export const item = (catalog, id) => ask("GET", `/v1/items/${catalog}/${encodeURIComponent(id)}`);
