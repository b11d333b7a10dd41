// How many candidates were left at each step of a search; this tab remembers it over a reload.

/** @import { Session } from "./types.js" */

/** @param {string} id */
const place = (id) => `seeker:candidates:${id}`;

/**
 * Take in a session's belief, and return what is known of the steps up to now.
 *
 * @param {Session} session
 * @returns {(number | null)[]} by step; null where it was never seen here
 */
export function candidates(session) {
  const known = read(session.id);
  const now = session.history.length;
  known.length = Math.min(known.length, now + 1);
  while (known.length <= now) known.push(null);
  known[0] ??= session.query || session.history.length === 0 ? null : session.page.total;
  if (session.belief) known[now] = session.belief.candidates;
  write(session.id, known);
  return known;
}

/** @param {string} id @returns {(number | null)[]} */
function read(id) {
  try {
    const written = JSON.parse(sessionStorage.getItem(place(id)) ?? "[]");
    return Array.isArray(written) ? written.map((one) => (typeof one === "number" ? one : null)) : [];
  } catch {
    // A browser may forbid storage, or somebody may have written there: the picture then begins here.
    return [];
  }
}

/** @param {string} id @param {(number | null)[]} known */
function write(id, known) {
  try {
    sessionStorage.setItem(place(id), JSON.stringify(known));
  } catch {
    // See above.
  }
}
