/** Turns the arguments of a call into labelled fields and links. An agent wrote them, so they are only shown. */
import { needsYou as text } from '../../../text/needsYou.ts';
import { fill } from '../../../ui/format.ts';
import { parsed } from '../../parts/json.ts';

export interface CallField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

export interface CallFieldsResult {
  readonly fields: readonly CallField[];
  readonly links: readonly { readonly label: string; readonly address: string }[];
}

/** Arguments that only the protocol needs. */
const HIDDEN = ['idempotency_key', 'workspace'];
const REPOSITORY = /^[\w.-]+\/[\w.-]+$/;

/** @param json the arguments as stored; shown whole if they cannot be read */
export function fieldsOfCall(json: string): CallFieldsResult {
  const read = parsed(json);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    return { fields: [{ name: '', label: text.arguments, value: json }], links: [] };
  }
  const given: Readonly<Record<string, unknown>> = { ...read };
  const fields = Object.entries(given)
    .filter(([name]) => !HIDDEN.includes(name))
    .map(([name, value]) => ({ name, label: labelOf(name), value: wordsOf(value) }));
  return { fields, links: linksOf(given) };
}

/** Links to GitHub. Values of the arguments become part of the path only, so they cannot lead elsewhere. */
function linksOf(given: Readonly<Record<string, unknown>>): CallFieldsResult['links'] {
  const repository = given['repository'] ?? given['project'];
  if (typeof repository !== 'string' || !REPOSITORY.test(repository)) return [];
  const base = `https://github.com/${repository}`;
  const { branch, base: onto = 'main' } = given;
  const number = given['pull_number'] ?? given['pull_request'] ?? given['number'];
  return [
    ...(typeof branch === 'string'
      ? [
          { label: text.branch, address: `${base}/tree/${encodeURIComponent(branch)}` },
          {
            label: text.changes,
            address: `${base}/compare/${encodeURIComponent(String(onto))}...${encodeURIComponent(branch)}`,
          },
        ]
      : []),
    ...(typeof number === 'number'
      ? [
          { label: fill(text.pullRequest, { n: number }), address: `${base}/pull/${number}` },
          { label: text.changes, address: `${base}/pull/${number}/files` },
        ]
      : []),
  ];
}

/** Returns `Task id` for `task_id` and `taskId`. */
function labelOf(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  return JSON.stringify(value, undefined, 2);
}
