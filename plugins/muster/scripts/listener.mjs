// @ts-check
/** Wakes a session when there is news in the inboxes of its agents. Shared by Claude Code and Codex. */
import { setTimeout as delay } from 'node:timers/promises';
import { Notes } from './notes.mjs';
import { newsOf, textAbout, Waking } from './waking.mjs';

/** Time in which changes are collected before the inboxes are read. */
const COLLECT_MS = 300;

/** Maximum time until the listener notices new agents, a lock that became free, or the end of an absence. */
const TICK_MS = 5000;
const MIN_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;

/** @typedef {import('./waking.mjs').Inbox} Inbox */

/**
 * @typedef {object} Listening
 * @property {import('./inbox.mjs').InboxClient} client
 * @property {() => readonly string[]} agents agents of the session, in addition to the credential's agent
 * @property {(text: string) => void | Promise<void>} wake reports a text of one line to the session
 * @property {(holds: number) => boolean} isAway returns whether to disconnect, if the agents hold so many tasks. While
 *   the listener is connected, the hub renews the leases of the credential's agent
 * @property {AbortSignal} end
 */

export class Listener {
  #waking = new Waking();
  /** @type {Map<string, Notes>} */
  #notes = new Map();
  /** Last known inboxes. @type {Map<string, Inbox>} */
  #inboxes = new Map();
  /** @type {string | undefined} */
  #own;
  #backoff = MIN_BACKOFF_MS;
  #options;

  /** @param {Listening} options */
  constructor(options) {
    this.#options = options;
  }

  /** Listens until `end` aborts. @throws Error if `wake` fails */
  async run() {
    const { client, end } = this.#options;
    while (!end.aborted) {
      try {
        this.#own ??= await client.whoami();
        const agents = this.#lockedAgents();
        if (agents.length > 0 && !this.#isAway()) await this.#listen(agents);
        else await delay(TICK_MS, undefined, { signal: end });
        continue;
      } catch (error) {
        if (error instanceof WakeError) throw error.cause;
      }
      // The hub is unreachable or refuses the credential. The random part spreads the attempts of several sessions.
      await delay(this.#backoff * (1 + Math.random()), undefined, { signal: end }).catch(() => undefined);
      this.#backoff = Math.min(2 * this.#backoff, MAX_BACKOFF_MS);
    }
    for (const notes of this.#notes.values()) notes.unlock();
  }

  /** Follows the inboxes until the hub ends the stream, or the agents change. @param {readonly string[]} agents */
  async #listen(agents) {
    const over = new AbortController();
    const stream = new Changes(this.#options.client.changes(agents, AbortSignal.any([over.signal, this.#options.end])));
    let changed = agents;
    try {
      for (;;) {
        await this.#read(changed);
        const dueAt = await this.#report();
        if (this.#isAway() || String(this.#lockedAgents()) !== String(agents)) return;
        const left = dueAt === undefined ? TICK_MS : dueAt - Date.now();
        changed = await stream.next(Math.max(0, Math.min(TICK_MS, left)));
        if (stream.hasEnded && changed.length === 0) return;
      }
    } finally {
      over.abort();
    }
  }

  /** @param {readonly string[]} changed */
  async #read(changed) {
    for (const agent of changed) this.#inboxes.set(agent, await this.#options.client.read(agent));
    if (changed.length > 0) this.#backoff = MIN_BACKOFF_MS;
  }

  /** Wakes the session if there is news and it may be woken now. Returns when it may be woken, if there is more. */
  async #report() {
    const reports = [...this.#inboxes].map(([agent, inbox]) => {
      const news = newsOf(inbox);
      const told = this.#notesOf(agent).told();
      return { agent, inbox, news, told, fresh: news.filter(({ key }) => !told.has(key)) };
    });
    const fresh = reports.flatMap((report) => report.fresh);
    const dueAt = this.#waking.dueAt(fresh);
    const isDue = dueAt !== undefined && dueAt <= Date.now();
    const locked = this.#lockedAgents();
    const woken = reports.filter((report) => report.fresh.length > 0 && locked.includes(report.agent));
    if (isDue && woken.length > 0) {
      await Promise.resolve(
        this.#options.wake(woken.map((report) => textAbout(report.inbox, report.fresh)).join(' ')),
      ).catch((cause) => Promise.reject(new WakeError('cannot wake', { cause })));
      this.#waking.woke(fresh, Date.now());
    }
    for (const { agent, news, told } of reports) {
      const isTold = isDue && woken.some((report) => report.agent === agent);
      // Keys that left the inbox are deleted, so that a task that becomes claimable again is reported again.
      const kept = news.filter(({ key }) => isTold || told.has(key)).map(({ key }) => key);
      if (kept.length !== told.size || kept.some((key) => !told.has(key))) this.#notesOf(agent).save(new Set(kept));
    }
    return isDue ? undefined : dueAt;
  }

  /** Returns the agents for which this process may report news. */
  #lockedAgents() {
    const agents = new Set([...(this.#own === undefined ? [] : [this.#own]), ...this.#options.agents()]);
    for (const agent of this.#inboxes.keys()) if (!agents.has(agent)) this.#inboxes.delete(agent);
    return [...agents].sort().filter((agent) => this.#notesOf(agent).lock());
  }

  #isAway() {
    const holds = [...this.#inboxes.values()].reduce((sum, inbox) => sum + inbox.holds, 0);
    return this.#options.isAway(holds);
  }

  /** @param {string} agent */
  #notesOf(agent) {
    const notes = this.#notes.get(agent) ?? new Notes(this.#options.client.scope, agent);
    this.#notes.set(agent, notes);
    return notes;
  }
}

/** Collects the items of a stream. */
class Changes {
  hasEnded = false;
  /** @type {Set<string>} */
  #items = new Set();
  /** @type {unknown} */
  #failure;
  #ring = () => {};

  /** @param {AsyncIterable<string>} source */
  constructor(source) {
    this.#collect(source)
      .catch((error) => (this.#failure = error))
      .finally(() => {
        this.hasEnded = true;
        this.#ring();
      });
  }

  /** @param {AsyncIterable<string>} source */
  async #collect(source) {
    for await (const item of source) {
      this.#items.add(item);
      this.#ring();
    }
  }

  /** Waits for items, at most so long. @param {number} milliseconds @throws Error if the stream fails */
  async next(milliseconds) {
    const rung = new Promise((resolve) => (this.#ring = () => resolve(undefined)));
    if (this.#items.size === 0 && !this.hasEnded) await timely(rung, milliseconds);
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#items.size > 0) await delay(COLLECT_MS);
    const items = [...this.#items];
    this.#items.clear();
    return items;
  }
}

/** Resolves with a promise, or after a time without leaving a timer. @param {Promise<unknown>} promise @param {number} milliseconds */
async function timely(promise, milliseconds) {
  const late = new AbortController();
  const wait = delay(milliseconds, undefined, { signal: late.signal }).catch(() => undefined);
  await Promise.race([promise, wait]).finally(() => late.abort());
}

class WakeError extends Error {}
