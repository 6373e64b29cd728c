/**
 * Prompt templates in Mustache, a language without code execution. Templates can read only the values of the scope.
 * Outputs of models are marked as data. The size of a prompt is limited while the prompt is being built.
 */
import mustache from 'mustache';
import { characterCount } from '../../../../kernel/text.ts';
import { BoundedText, ExpressionError, fenced, printed, type Scope, type StepView } from './scope.ts';

/** Maximum number of rendered parts, because nested sections can multiply the number of their parts. */
const MAX_PARTS = 100_000;

/** @returns the steps to which the template refers @throws ExpressionError whose message explains what is invalid */
export function checkTemplate(template: string): readonly string[] {
  return [...new Set(stepsNamed(partsOf(template)))];
}

/** @param template checked by checkTemplate @throws ExpressionError if the prompt would be too long */
export function renderTemplate(template: string, scope: Scope): string {
  const parts = partsOf(template);
  const rendering = new Rendering();
  rendering.all(parts, [viewOf(scope, stepsNamed(parts))]);
  return rendering.text.toString();
}

/** Renders one template. `views` are the values of the sections that are being rendered, innermost first. */
class Rendering {
  readonly text = new BoundedText();
  /** Printed texts of all values except strings, so that each value is formatted only once. */
  private readonly prints = new Map<unknown, string>();
  private rendered = 0;

  all(parts: readonly Part[], views: readonly unknown[]): void {
    for (const part of parts) this.one(part, views);
  }

  private one({ kind, text, parts }: Part, views: readonly unknown[]): void {
    this.count();
    if (kind === 'text') {
      this.text.add(text, "the template's text");
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
    this.text.add(text, `{{${path}}} (${characterCount(text)} characters)`);
  }

  private section(value: unknown, parts: readonly Part[], views: readonly unknown[]): void {
    if (isEmpty(value)) return;
    for (const view of Array.isArray(value) ? value : [value === true ? views[0] : value]) {
      this.count();
      this.all(parts, [view, ...views]);
    }
  }

  private count(): void {
    if (++this.rendered > MAX_PARTS) throw new ExpressionError("The template's sections repeat too often.");
  }
}

/** Returns whether Mustache skips a section with this value. */
function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** Returns the value at the path in the innermost section that contains the path. */
function found(path: string, views: readonly unknown[]): unknown {
  if (path === '.') return views[0];
  const keys = path.split('.');
  for (const view of views) {
    const value = keys.reduce(ownValue, view);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Reads only an object's own properties, so that a template cannot access inherited properties. */
function ownValue(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined;
  return Object.getOwnPropertyDescriptor(of, key)?.value;
}

/** @param names steps that the template uses; other outputs are omitted, because marking them as data takes time */
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
  /** The text itself if `kind` is `text`, otherwise the path of the value. */
  readonly text: string;
  readonly parts: readonly Part[];
}

const MAX_SECTION_DEPTH = 4;
const SHOWN_LENGTH = 60;

/** Matches a path such as `input`, `context.files` or `.`. */
const PATH = /^(?:\.|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)$/;
const ROOTS: readonly string[] = ['input', 'context', 'iteration', 'steps'];

function stepsNamed(parts: readonly Part[]): readonly string[] {
  return parts.flatMap(({ kind, text, parts: inner }) => {
    const [root, step] = kind === 'text' ? [] : text.split('.', 2);
    return [...(root === 'steps' && step !== undefined ? [step] : []), ...stepsNamed(inner)];
  });
}

/** @throws ExpressionError whose message explains what is invalid */
function partsOf(template: string): readonly Part[] {
  const text = tightened(template);
  let tokens: readonly Token[];
  try {
    tokens = new mustache.Writer().parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    throw new ExpressionError(`Invalid Mustache template: ${message}.`, { cause: error });
  }
  return partsAmong(tokens, 0);
}

type Token = readonly unknown[];

/** Removes white space and comments from tags, because Mustache takes quadratic time for white space in tags. */
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
    if (close === -1) throw new ExpressionError(`Invalid Mustache template: Unclosed tag at ${open}.`);
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
  if (sigil === '>' || sigil === '=') throw new ExpressionError('Partials and custom delimiters are not supported.');
  if (sigil === '!') return '!';
  const path = inner.slice(sigil.length).trim();
  if (/\s/.test(path)) throw isUnknownPath(path);
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
      throw new ExpressionError(`Sections can nest at most ${MAX_SECTION_DEPTH} levels.`);
    const parts = Array.isArray(inner) ? partsAmong(inner, depth + 1) : [];
    return [{ kind: mark === '#' ? 'section' : 'inverted', text, parts }];
  });
}

function requirePath(path: string, depth: number): void {
  if (!PATH.test(path)) throw isUnknownPath(path);
  const [root = '', step] = path.split('.', 2);
  if (root === 'steps') {
    if (step !== undefined && step !== '') return;
    throw new ExpressionError('Use steps with a step name: {{steps.plan.output}}.');
  }
  if (depth === 0 && !ROOTS.includes(root))
    throw new ExpressionError(`Unknown name "${root}". Use ${ROOTS.join(', ')}.`);
}

function isUnknownPath(path: string): ExpressionError {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path;
  return new ExpressionError(`Invalid name "{{${shown}}}".`);
}
