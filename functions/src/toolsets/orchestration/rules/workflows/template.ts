/**
 * Prompt templates: Mustache, which has no logic to run. A template reaches nothing but the scope's own values;
 * what models wrote is fenced as data. What a prompt may cost is bound while it is made, and not looked at when it is
 * there.
 */

import mustache from 'mustache';
import { characterCount } from '../../../../kernel/text.ts';
import { BoundedText, ExpressionError, fenced, printed, type Scope, type StepView } from './scope.ts';

/** How many parts may be rendered in all: sections within sections multiply, whether or not they have something to say. */
const MAX_PARTS = 100_000;

/** @returns the steps that it names @throws ExpressionError where it is no template; the message says why */
export function checkTemplate(template: string): { readonly steps: readonly string[] } {
  return { steps: [...new Set(stepsNamed(partsOf(template)))] };
}

/** @param template as checkTemplate has accepted it @throws ExpressionError where the prompt would be too long */
export function renderTemplate(template: string, scope: Scope): string {
  const parts = partsOf(template);
  const rendering = new Rendering();
  rendering.all(parts, [viewOf(scope, stepsNamed(parts))]);
  return rendering.text.toString();
}

/** The views are those that sections have entered, from the inside out. */
class Rendering {
  readonly text = new BoundedText();
  /** What values look like that are no text, by the values themselves. */
  private readonly prints = new Map<unknown, string>();
  private rendered = 0;

  all(parts: readonly Part[], views: readonly unknown[]): void {
    for (const part of parts) this.one(part, views);
  }

  private one({ kind, text, parts }: Part, views: readonly unknown[]): void {
    this.count();
    if (kind === 'text') {
      this.text.add(text, 'its own text');
      return;
    }
    const value = found(text, views);
    if (kind === 'value') this.value(value, text);
    else if (kind === 'section') this.section(value, parts, views);
    else if (isEmpty(value)) this.all(parts, views);
  }

  private value(value: unknown, path: string): void {
    if (value === undefined || value === null) return;
    const text = this.prints.get(value) ?? printed(value);
    if (typeof value !== 'string') this.prints.set(value, text);
    this.text.add(text, `{{${path}}}, which has ${characterCount(text)} characters`);
  }

  private section(value: unknown, parts: readonly Part[], views: readonly unknown[]): void {
    if (isEmpty(value)) return;
    for (const view of Array.isArray(value) ? value : [value === true ? views[0] : value]) {
      this.count();
      this.all(parts, [view, ...views]);
    }
  }

  private count(): void {
    if (++this.rendered > MAX_PARTS) throw new ExpressionError('Its sections repeat too often.');
  }
}

/** What Mustache takes for false. */
function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** The value of the innermost view that has it. */
function found(path: string, views: readonly unknown[]): unknown {
  if (path === '.') return views[0];
  const keys = path.split('.');
  for (const view of views) {
    const value = keys.reduce(ownValue, view);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Goes by own properties alone, so that nothing is reached which the scope does not hold. */
function ownValue(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined;
  return Object.getOwnPropertyDescriptor(of, key)?.value;
}

/** @param names of the steps that are to be seen: to fence an output costs reading it */
function viewOf(scope: Scope, names: readonly string[]) {
  const steps = [...scope.steps].filter(([name]) => names.includes(name));
  return { ...scope, steps: Object.fromEntries(steps.map(([name, step]) => [name, stepView(name, step)])) };
}

function stepView(name: string, { status, output, results }: StepView) {
  return {
    status,
    output: output === '' ? '' : fenced(`Output of the step ${name}`, output),
    results: results.map((result, index) => ({
      number: index + 1,
      agent: result.agent,
      output: fenced(`Answer ${index + 1} of the step ${name}`, result.output),
    })),
  };
}

interface Part {
  readonly kind: 'text' | 'value' | 'section' | 'inverted';
  /** Of a text; of all others the path of their value. */
  readonly text: string;
  readonly parts: readonly Part[];
}

const MAX_SECTION_DEPTH = 4;

/** How much of a wrong path is repeated, in characters. */
const SHOWN_LENGTH = 60;

/** `input`, `context.files`, `.` */
const PATH = /^(?:\.|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)$/;

const ROOTS: readonly string[] = ['input', 'context', 'iteration', 'steps'];

/** The steps that are named in it. */
function stepsNamed(parts: readonly Part[]): readonly string[] {
  return parts.flatMap(({ kind, text, parts: inner }) => {
    const [root, step] = kind === 'text' ? [] : text.split('.', 2);
    return [...(root === 'steps' && step !== undefined ? [step] : []), ...stepsNamed(inner)];
  });
}

/** @throws ExpressionError where it is no template; the message says why */
function partsOf(template: string): readonly Part[] {
  const text = tightened(template);
  let tokens: readonly Token[];
  try {
    tokens = new mustache.Writer().parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    throw new ExpressionError(`It is no Mustache template: ${message}.`, { cause: error });
  }
  return partsAmong(tokens, 0);
}

type Token = readonly unknown[];

/** Without the tags' white space and comments: Mustache takes the square of the white space to find the end of a tag. */
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
    if (close === -1) throw new ExpressionError(`It is no Mustache template: Unclosed tag at ${open}.`);
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
    throw new ExpressionError('It may not include partials or set delimiters.');
  if (sigil === '!') return '!';
  const path = inner.slice(sigil.length).trim();
  if (/\s/.test(path)) throw namesNothing(path);
  return `${sigil}${path}`;
}

function partsAmong(tokens: readonly Token[], depth: number): readonly Part[] {
  return tokens.flatMap(([mark, value, , , inner]): Part[] => {
    const text = String(value);
    if (mark === '!') return [];
    if (mark === 'text') return [{ kind: mark, text, parts: [] }];
    requirePath(text, depth);
    if (mark !== '#' && mark !== '^') return [{ kind: 'value', text, parts: [] }];
    if (depth === MAX_SECTION_DEPTH)
      throw new ExpressionError(`Its sections may be ${MAX_SECTION_DEPTH} deep.`);
    const parts = Array.isArray(inner) ? partsAmong(inner, depth + 1) : [];
    return [{ kind: mark === '#' ? 'section' : 'inverted', text, parts }];
  });
}

function requirePath(path: string, depth: number): void {
  if (!PATH.test(path)) throw namesNothing(path);
  const [root = '', step] = path.split('.', 2);
  if (root === 'steps') {
    if (step !== undefined && step !== '') return;
    throw new ExpressionError('A step is named by itself: {{steps.plan.output}}.');
  }
  if (depth === 0 && !ROOTS.includes(root)) {
    throw new ExpressionError(`There is no "${root}"; there are ${ROOTS.join(', ')}.`);
  }
}

function namesNothing(path: string): ExpressionError {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path;
  return new ExpressionError(`"{{${shown}}}" names nothing.`);
}
