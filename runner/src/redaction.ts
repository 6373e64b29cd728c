/** Removes secrets from text that leaves the machine. See docs/decisions/0025-runner.md. */
import { existsSync } from 'node:fs';
import { MIN_SECRET_LENGTH, secretsOf } from './redaction/environment.ts';
import { withoutFormats } from './redaction/formats.ts';
import { createKeyBlockRedactor } from './redaction/keyBlocks.ts';
import { REDACTED } from './redaction/placeholder.ts';

/** Unpaired surrogates, which `encodeURIComponent` does not accept. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Redactor {
  /** Returns the text without its secrets. The text may have several lines. */
  text(text: string): string;
  /** Returns a value without secrets in its texts and keys. */
  json(value: Json): Json;
}

/**
 * Creates a redactor for the secrets of one environment and for all secrets in a known format.
 * @param secrets texts to remove in every encoding
 * @param env environment; the values of variables whose names suggest a secret are removed
 * @param exists returns whether a path exists on this machine; an existing path is not a secret
 */
export function createRedactor(
  secrets: readonly string[],
  env: NodeJS.ProcessEnv,
  exists: (path: string) => boolean = existsSync,
): Redactor {
  const own = [...secrets, ...secrets.flatMap((one) => one.split('.')), ...secretsOf(env, exists)];
  const known = [...new Set(own.filter(({ length }) => length >= MIN_SECRET_LENGTH).flatMap(spellings))].sort(
    (one, other) => other.length - one.length,
  );
  const text = (value: string): string => {
    const withoutKeys = createKeyBlockRedactor()(value) ?? '';
    return withoutFormats(known.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), withoutKeys));
  };
  const json = (value: Json): Json => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [text(key), json(one)]));
  };
  return { text, json };
}

/** Returns the encodings of a secret: unchanged, in a JSON string, in a URL and in form data. */
function spellings(secret: string): readonly string[] {
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.replace(LONE_SURROGATES, '')), inForm];
}
