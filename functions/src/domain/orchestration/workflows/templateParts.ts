/** What a prompt template is made of, once it has been read and found to be one. */
import mustache from 'mustache';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: string }
  | { readonly kind: 'section' | 'inverted'; readonly path: string; readonly parts: readonly Part[] };

const MAX_SECTION_DEPTH = 4;

/** How much of a wrong path is repeated, in characters. */
const SHOWN_LENGTH = 60;

/** `input`, `context.files`, `.` */
const PATH = /^(?:\.|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)$/;

const ROOTS: readonly string[] = ['input', 'context', 'iteration', 'steps'];

/** Why a text is no template, or why there is no prompt. */
export class TemplateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TemplateError';
  }
}

/** @throws TemplateError where it is no template; the message says why */
export function partsOf(template: string): readonly Part[] {
  return partsAmong(tokensOf(template), 0);
}

/** The steps that are named in it. */
export function stepsNamed(parts: readonly Part[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const part of parts) {
    if (part.kind === 'text') continue;
    const [root, step] = part.path.split('.', 2);
    if (root === 'steps' && step !== undefined) names.add(step);
    if (part.kind !== 'value') for (const name of stepsNamed(part.parts)) names.add(name);
  }
  return names;
}

type Token = readonly unknown[];

function tokensOf(template: string): readonly Token[] {
  const text = tightened(template);
  try {
    return new mustache.Writer().parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    throw new TemplateError(`It is no Mustache template: ${message}.`, { cause: error });
  }
}

/**
 * The template without what its tags may do without: white space and comments. Mustache looks for the end of a tag
 * in a way that takes the square of the white space in it.
 */
function tightened(template: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (let open = template.indexOf('{{'); open !== -1; open = template.indexOf('{{', at)) {
    const isTriple = template
      .slice(open + 2)
      .trimStart()
      .startsWith('{');
    const end = isTriple ? '}}}' : '}}';
    const close = template.indexOf(end, open + 2);
    if (close === -1) throw new TemplateError(`It is no Mustache template: Unclosed tag at ${open}.`);
    const inner = template.slice(open + 2, close).trim();
    const within = isTriple ? `&${inner.slice(1)}` : inner;
    pieces.push(template.slice(at, open), `{{${tightTag(within)}}}`);
    at = close + end.length;
  }
  return pieces.join('') + template.slice(at);
}

const SIGILS: ReadonlySet<string> = new Set('#^/&!>=');

function tightTag(inner: string): string {
  const first = inner.charAt(0);
  const sigil = SIGILS.has(first) ? first : '';
  if (sigil === '>' || sigil === '=')
    throw new TemplateError('It may not include partials or set delimiters.');
  if (sigil === '!') return '!';
  const path = inner.slice(sigil.length).trim();
  if (/\s/.test(path)) throw namesNothing(path);
  return `${sigil}${path}`;
}

function partsAmong(tokens: readonly Token[], depth: number): readonly Part[] {
  return tokens.flatMap(([kind, value, , , inner]): Part[] => {
    const text = String(value);
    if (kind === '!') return [];
    if (kind === 'text') return [{ kind, text }];
    requirePath(text, depth);
    if (kind !== '#' && kind !== '^') return [{ kind: 'value', path: text }];
    if (depth === MAX_SECTION_DEPTH)
      throw new TemplateError(`Its sections may be ${MAX_SECTION_DEPTH} deep.`);
    const parts = Array.isArray(inner) ? partsAmong(inner, depth + 1) : [];
    return [{ kind: kind === '#' ? 'section' : 'inverted', path: text, parts }];
  });
}

function requirePath(path: string, depth: number): void {
  if (!PATH.test(path)) throw namesNothing(path);
  const [root = '', step] = path.split('.', 2);
  if (root === 'steps') {
    if (step !== undefined && step !== '') return;
    throw new TemplateError('A step is named by itself: {{steps.plan.output}}.');
  }
  if (depth === 0 && !ROOTS.includes(root)) {
    throw new TemplateError(`There is no "${root}"; there are ${ROOTS.join(', ')}.`);
  }
}

function namesNothing(path: string): TemplateError {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path;
  return new TemplateError(`"{{${shown}}}" names nothing.`);
}
