/** Builds forms of an ending, from the full report to the shortest form that ends a task. */
import type { Ending } from '../hub/hub.ts';
import type { Json } from '../redaction.ts';
import { clean, cutBytes } from '../text.ts';

/** Maximum length of each text in a shortened report, in bytes. */
const MAX_TEXT_BYTES = 2000;
const MAX_LIST = 20;

/** Lists that a short report keeps. It also keeps texts, numbers and the objects in KEPT_OBJECTS. */
const KEPT_LISTS = new Set(['warnings', 'kept']);
const KEPT_OBJECTS = new Set(['tokens', 'pullRequest']);
const REFUSED = 'The hub did not accept the full report of this attempt.';

/**
 * Returns the ending and shorter forms of it. Each shorter form is sent if the hub rejects the content of the
 * previous form. Before texts are shortened, fields of a failure that older hubs do not know are omitted.
 */
export function formsOf(ending: Ending): readonly Ending[] {
  const { status, failure } = ending;
  const short = { status, result: shortResult(ending.result), ...withMessage(failure, shortText) };
  const min = { status, result: { summary: REFUSED }, ...withMessage(knownFailure(ending), () => REFUSED) };
  return [ending, short].flatMap((form) => [form, ...withoutUnknown(form)]).concat(min);
}

/** Returns the form without the failure fields that older hubs do not know; an empty list if it has no such field. */
function withoutUnknown(form: Ending): readonly Ending[] {
  const failure = knownFailure(form);
  if (failure === undefined || form.failure === undefined) return [];
  const isKnown = Object.keys(failure).length === Object.keys(form.failure).length;
  return isKnown ? [] : [{ ...form, failure }];
}

function knownFailure({ failure }: Ending): Ending['failure'] {
  if (failure === undefined) return undefined;
  const { class: failureClass, message, retryable } = failure;
  return { class: failureClass, message, ...(retryable !== undefined && { retryable }) };
}

function withMessage(failure: Ending['failure'], shorter: (message: string) => string): Pick<Ending, 'failure'> {
  return failure === undefined ? {} : { failure: { ...failure, message: shorter(failure.message) } };
}

function shortText(text: string): string {
  return cutBytes(clean(text), MAX_TEXT_BYTES).trim() || REFUSED;
}

function shortResult(result: Json): Json {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return { summary: REFUSED };
  const kept = Object.entries(result).flatMap<readonly [string, Json]>(([key, value]) => {
    if (typeof value === 'string') return [[key, cutBytes(clean(value), MAX_TEXT_BYTES)]];
    if (typeof value !== 'object' || value === null) return [[key, value]];
    if (Array.isArray(value)) return KEPT_LISTS.has(key) ? [[key, shortList(value)]] : [];
    return KEPT_OBJECTS.has(key) ? [[key, value]] : [];
  });
  const { warnings, ...rest } = Object.fromEntries(kept);
  return { ...rest, warnings: [REFUSED, ...(Array.isArray(warnings) ? warnings : [])] };
}

function shortList(list: readonly Json[]): Json {
  return list
    .slice(0, MAX_LIST)
    .flatMap((one) => (typeof one === 'string' ? cutBytes(clean(one), MAX_TEXT_BYTES) : []));
}
