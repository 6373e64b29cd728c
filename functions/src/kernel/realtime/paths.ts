/** Where everything lies in the Realtime Database. Source: docs/data-model.md#realtime-database. */
import { nothingOfThisId } from '../errors.ts';

export const PRESENCE = 'presence';
const CHECKS = 'checks';
export const TASK_QUEUE = 'tasks/queue';
export const LIMITS = 'limits';
export const METRICS_MINUTES = 'metrics/minutes';
export const METRICS_AGENTS = 'metrics/agents';
export const BUS = 'bus';
export const TASK_UPDATES = 'task-updates';
export const NOTIFICATIONS = 'notifications';
export const DEVICES = 'devices';
export const DELIVERIES = 'deliveries';
export const COMMITS = 'commits';
export const UNREADABLE = 'unreadable';

/** What a key may not have. Source: https://firebase.google.com/docs/database/usage/limits#data_tree */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses exactly these in a key
const NO_KEY = /[.#$[\]/\u0000-\u001f\u007f]|\p{Cs}|^$/u;

const MAX_KEY_BYTES = 768;

/**
 * An id as a part of a path, so that no path leads elsewhere than it says.
 * @throws MusterError NOT_FOUND for what can be no key
 */
function segment(id: string): string {
  const isOne = !NO_KEY.test(id) && Buffer.byteLength(id) <= MAX_KEY_BYTES;
  if (!isOne) throw nothingOfThisId();
  return id;
}

/** The path of a node of a list, by its id. */
function nodeIn(list: string): (id: string) => string {
  return (id) => `${list}/${segment(id)}`;
}

/** The same by any text, such as a uid. */
function ownNodeIn(list: string): (name: string) => string {
  return (name) => `${list}/${segment(keyOf(name))}`;
}

export const presencePath = nodeIn(PRESENCE);

/** Where the sweep tries whether something can be written: `presence`. */
export const checkPath = nodeIn(CHECKS);
export const queuedTaskPath = nodeIn(TASK_QUEUE);
export const limitPath = ownNodeIn(LIMITS);
export const agentMetricsPath = ownNodeIn(METRICS_AGENTS);

/** @param minute any moment of it */
export function minuteMetricsPath(minute: Date): string {
  return `${METRICS_MINUTES}/${minuteKey(minute)}`;
}

/** `202611220124`: in the order of time. UTC. */
export function minuteKey(minute: Date): string {
  return minute.toISOString().replace(/\D/g, '').slice(0, 12);
}

/** The beginning of the minute that `minuteKey` wrote. */
export function timeOfMinuteKey(key: string): Date {
  const [year, month, day, hour, minute] = [0, 4, 6, 8, 10].map((at) =>
    Number(key.slice(at, at === 0 ? 4 : at + 2)),
  );
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses exactly these in a key
const FORBIDDEN_IN_KEYS = /[.#$[\]/%\u0000-\u001f\u007f]/g;

/** Any text as one key, reversibly: what a key may not have is written as in a URL. */
export function keyOf(text: string): string {
  return text.replace(
    FORBIDDEN_IN_KEYS,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** A subscription's log of events, and who writes it. */
export const busPath = nodeIn(BUS);
export const taskUpdatesPath = ownNodeIn(TASK_UPDATES);
export const notificationsPath = ownNodeIn(NOTIFICATIONS);
export const devicesPath = ownNodeIn(DEVICES);

/** That a caller's write was carried out. @param id letters and digits */
export const realtimeCommitPath = nodeIn(COMMITS);

/** The text that `keyOf` wrote. */
export function nameOfKey(key: string): string {
  return key.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
