// The shapes of what the service answers, for the type checker; there is no code here.

/** pictures: where the same picture is in several sizes, by pixels each way. @typedef {{id: string, title: string, media: string | null, pictures?: Record<string, string>, attributes: Record<string, unknown>}} Item */
/** partial: part of the catalog could not be asked. @typedef {{items: Item[], offset: number, limit: number, total: number, partial?: boolean}} Page */
/** @typedef {{entropy: number, candidates: number, on_page: number, views: Record<string, number>, noise: number | null}} Belief */
/** @typedef {"like" | "dislike" | "clear"} Verdict */
/** @typedef {Record<string, unknown>} Filter */
/** @typedef {{step: number, type: string, item?: string, verdict?: Verdict, text?: string, filter?: Filter | null, level?: number}} HistoryEntry */
/**
 * @typedef {object} Session
 * @property {string} id
 * @property {string} catalog
 * @property {number} step
 * @property {string[]} likes
 * @property {string[]} dislikes
 * @property {Item[]} examples of the likes, those that are in no catalog
 * @property {Page} page
 * @property {Belief | null} belief
 * @property {string | null} query
 * @property {Filter | null} filter
 * @property {string[]} said
 * @property {UnderstoodWords[]} words
 * @property {number} exploration
 * @property {Record<string, number>} focus by view, how much more it matters than usual
 * @property {string | null} found
 * @property {number} undone
 * @property {HistoryEntry[]} history
 */
/** @typedef {{item: string, verdict: "like" | "dislike", log_likelihood: number, pull: number, views: Record<string, number>}} ClickContribution */
/** @typedef {{item: string, score: number | null, prior: number | null, text: number, text_pull: number, clicks: ClickContribution[]}} Explanation */
/** @typedef {{name: string, kind: "number" | "boolean" | "text" | "tags", known: number, distinct: number, values: {value: string | boolean, count: number}[], low: number | null, high: number | null}} Facet */
/** @typedef {{name: string, items: number, views: string[], reads_text: boolean, reads_words: boolean, reads_pictures: boolean}} CatalogSummary */
/** What became of words that were said. @typedef {{text: string, unknown: string[], corrections: Record<string, string>, letters: boolean, meaning: boolean, nearest: Record<string, string>}} UnderstoodWords */
/** How an attribute is shown. @typedef {{label?: string, currency?: string, unit?: string, decimals?: number, card?: boolean, link?: boolean}} AttributeFormat */
/** By attribute. @typedef {Record<string, AttributeFormat>} Formats */
/** @typedef {CatalogSummary & {about: Record<string, unknown>, attributes: Formats, facets: Facet[]}} CatalogDetails */
/** How a session is named: by its own id, or by the token under which it was shared. @typedef {{kind: "session" | "shared", id: string}} SessionRef */
/** @typedef {{catalog?: string, query?: string | undefined, filter?: Filter | undefined, page_size?: number, like?: string[]}} SessionOptions */

export {};
