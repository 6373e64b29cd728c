/** Says in a sentence what an event of the audit log was. Pure; the page puts names and titles in. */
import { audit as text } from '../../../text/audit.ts';
import { kinds } from '../../../text/common.ts';
import { duration, money, plural } from '../../../ui/format.ts';
import { provingIn } from './proving.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface AuditChange {
  readonly kind: string;
  readonly id: string;
  /** Earlier values of the changed fields; absent if the item is new. */
  readonly before?: Fields;
  /** New values of the changed fields; absent if the item was deleted. */
  readonly after?: Fields;
}

export interface AuditEvent {
  /** Agent id, or uid of a person. */
  readonly by: string;
  readonly tool: string;
  readonly changes: readonly AuditChange[];
}

/** Replacement for a `{name}` in the sentence. */
export type Part =
  | { readonly kind: 'who'; readonly id: string }
  | { readonly kind: 'task' | 'todo' | 'run' | 'agent' | 'request'; readonly id: string; readonly title?: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Sentence {
  /** Text with `{names}`. */
  readonly text: string;
  readonly parts: Readonly<Record<string, Part>>;
}

const PLACEHOLDER = /\{(\w+)\}/g;

export function sentenceOf(told: AuditEvent): Sentence {
  const proving = provingIn(told.tool, told.changes);
  // The sentence is about the task that is proven, not about its review.
  const event = proving === undefined ? told : { ...told, changes: [proving.task, ...told.changes] };
  const candidates = [
    proving && text.verdicts[proving.verdict],
    templateOf(event),
    text.sentences[`${event.tool} otherwise`],
    text.other[targetOf(event) === undefined ? 'nothing' : 'item'],
  ];
  for (const candidate of candidates) {
    if (typeof candidate !== 'string') continue;
    const parts = partsOf(candidate, event, proving?.values);
    if (parts !== undefined) return { text: candidate, parts };
  }
  return { text: text.other.nothing, parts: partsOf(text.other.nothing, event) ?? {} };
}

/** Returns the sentence of the event's tool, for the number of items that it changed. */
function templateOf(event: AuditEvent): string | undefined {
  const known: string | readonly [string, string] | undefined =
    text.sentences[variantOf(event)] ?? text.sentences[event.tool];
  if (known === undefined || typeof known === 'string') return known;
  const created = event.changes.filter(({ kind, before }) => kind === 'task' && before === undefined).length;
  return plural(created, known);
}

/** Returns the name of the sentence for a tool that says different things. */
function variantOf({ tool, changes }: AuditEvent): string {
  if (tool === 'inbox.answer') {
    const answer = valueIn(changes, 'answer');
    if (
      changes.some(
        ({ kind, after }) => kind === 'request' && (answer === 'approve' || answer === 'refuse') && after !== undefined,
      )
    ) {
      return `${tool} ${answer}`;
    }
  }
  if (tool === 'system.setBudget' && changes.every(({ after }) => limitIn(after) === undefined)) return `${tool} none`;
  return tool;
}

function partsOf(
  template: string,
  event: AuditEvent,
  values: Readonly<Record<string, string>> = {},
): Record<string, Part> | undefined {
  const parts: Record<string, Part> = {};
  for (const [, name = ''] of template.matchAll(PLACEHOLDER)) {
    const given = values[name];
    const part = given === undefined ? partOf(name, event) : words(given);
    if (part === undefined) return undefined;
    parts[name] = part;
  }
  return parts;
}

/** Kinds that a placeholder names. */
const ITEMS = { task: 'task', todo: 'todo', run: 'run', agent: 'agent' } as const;

function partOf(name: string, event: AuditEvent): Part | undefined {
  const { by, changes } = event;
  if (name === 'who') return { kind: 'who', id: by };
  if (name === 'task' || name === 'todo' || name === 'run' || name === 'agent') {
    const found = changes.find(({ kind }) => kind === ITEMS[name]);
    return found && { kind: name, id: found.id, ...titled(found) };
  }
  if (name === 'item') return targetOf(event);
  if (name === 'fields') return words(fieldsIn(changes));
  if (name === 'kind') return words(kindOf(changes[0]?.kind));
  if (name === 'tool') return words(event.tool);
  const value = VALUES[name]?.(changes) ?? valueIn(changes, name);
  return value === undefined || value === null || value === '' ? undefined : words(String(value));
}

const words = (shown: string): Part => ({ kind: 'text', text: shown });

/** Placeholders that are not the name of a field. */
const VALUES: Readonly<Record<string, (changes: readonly AuditChange[]) => unknown>> = {
  time: (changes) => {
    const seconds = valueIn(changes, 'lease_seconds');
    return typeof seconds === 'number' ? duration(seconds * 1000) : undefined;
  },
  limit: (changes) => changes.map(({ after }) => limitIn(after)).find((limit) => limit !== undefined),
  role: (changes) => {
    const role = valueIn(changes, 'role');
    return typeof role === 'string' ? role : undefined;
  },
  email: (changes) => valueIn(changes, 'email') ?? changes.find(({ kind }) => kind === 'invitation')?.id,
  whom: (changes) => valueIn(changes, 'asked_of'),
  member: (changes) => valueIn(changes, 'name') ?? changes.find(({ kind }) => kind === 'member')?.id,
  workspace: (changes) => changes.find(({ kind }) => kind === 'workspace')?.id,
  workflow: (changes) => changes.find(({ kind }) => kind === 'workflow')?.id,
};

function limitIn(after: Fields | undefined): string | undefined {
  const limit = after?.['limit'] ?? after?.['money'];
  if (typeof limit === 'number') return money(limit);
  if (typeof limit === 'object' && limit !== null && 'money' in limit && typeof limit.money === 'number')
    return money(limit.money);
  return undefined;
}

/** Returns the value that a field has after the event, or had before it. */
function valueIn(changes: readonly AuditChange[], field: string): unknown {
  const after = changes.find((change) => change.after?.[field] != null)?.after?.[field];
  return after ?? changes.find(({ before }) => before?.[field] != null)?.before?.[field];
}

/** The item that the event is about: the first with a page, or else the first. */
export function targetOf({ changes }: AuditEvent): Part | undefined {
  const paged = changes.find(({ kind }) => kind in ITEMS);
  if (
    paged !== undefined &&
    (paged.kind === 'task' || paged.kind === 'todo' || paged.kind === 'run' || paged.kind === 'agent')
  ) {
    return { kind: paged.kind, id: paged.id, ...titled(paged) };
  }
  const [first] = changes;
  return first && words(`${kindOf(first.kind)} ${first.id}`);
}

function titled({ before, after }: AuditChange): { readonly title?: string } {
  const title = [after, before]
    .flatMap((fields) => [fields?.['title'], fields?.['description'], fields?.['name']])
    .find((one) => typeof one === 'string');
  return typeof title === 'string' ? { title: title.split('\n', 1)[0] ?? '' } : {};
}

function kindOf(kind = ''): string {
  return kinds[kind]?.[0] ?? kind.replaceAll('_', ' ');
}

/** Fields that only the system needs. */
const HIDDEN = new Set([
  'claim_epoch',
  'ancestors',
  'claimed_by_runner',
  'hearing',
  'coding_tool',
  'parts',
  'capability_names',
  'workspace_capabilities',
  'leads',
  'capability_key',
  'type',
  'blockers',
  'stuck_unsettled',
  'released_epoch',
  'authors',
  'proof_until',
  'rounds',
  'files_held',
  'file_wait',
  'files_since',
]);

export const isShownField = (name: string): boolean => !HIDDEN.has(name);

/** Returns the name of a field in words. */
export function fieldName(field: string): string {
  const words = field.replaceAll('_', ' ');
  return text.fields[field] ?? words.slice(0, 1).toUpperCase() + words.slice(1);
}

function fieldsIn(changes: readonly AuditChange[]): string {
  const names = new Set(
    changes.flatMap(({ before = {}, after = {} }) => [...Object.keys(before), ...Object.keys(after)]),
  );
  return [...names]
    .filter(isShownField)
    .map((name) => fieldName(name).toLowerCase())
    .join(', ');
}
