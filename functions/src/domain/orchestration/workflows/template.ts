/**
 * Prompt templates: Mustache, which has no logic to run. A template reaches nothing but the scope's own values;
 * what models wrote is fenced as data.
 */
import mustache from 'mustache';
import { fenced } from '../fence.ts';
import { printed, type Scope, type StepView } from './scope.ts';

/** The most characters that a prompt may become. */
export const MAX_PROMPT_LENGTH = 800_000;

/** How often sections may be rendered in one template: those within others multiply. */
const MAX_SECTION_RENDERINGS = 10_000;

const MAX_SECTION_DEPTH = 4;

/** `input`, `context.files`, `.` */
const PATH = /^(?:\.|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)$/;

const ROOTS: readonly string[] = ['input', 'context', 'iteration', 'steps'];

export interface CheckedTemplate {
  /** The steps that it names. */
  readonly steps: readonly string[];
}

/** Why a text is no template, or could not be rendered. */
export class TemplateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TemplateError';
  }
}

/** @throws TemplateError where it is no template; the message says why */
export function checkTemplate(template: string): CheckedTemplate {
  const steps = new Set<string>();
  inspect(parsed(template), 0, steps);
  return { steps: [...steps] };
}

/**
 * @param template as checkTemplate has accepted it
 * @throws TemplateError where the prompt would be too long
 */
export function renderTemplate(template: string, scope: Scope): string {
  const writer = new BoundedWriter();
  const context = new ScopeContext(viewOf(scope));
  return writer.renderTokens(parsed(template), context, undefined, template, { escape: printed });
}

/** Finds own properties alone: Mustache's own look-up follows prototypes, and calls what functions it meets. */
class ScopeContext extends mustache.Context {
  override lookup(path: string): unknown {
    if (path === '.') return this.view;
    const keys = path.split('.');
    for (let context: mustache.Context | undefined = this; context !== undefined; context = context.parent) {
      const found = keys.reduce(ownValue, context.view);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  override push(view: unknown): ScopeContext {
    return new ScopeContext(view, this);
  }
}

function ownValue(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined;
  return Object.getOwnPropertyDescriptor(of, key)?.value;
}

/** Stops where nested sections would multiply without end. */
class BoundedWriter extends mustache.Writer {
  private renderings = 0;
  private characters = 0;

  override renderTokens(...parameters: Parameters<mustache.Writer['renderTokens']>): string {
    if (++this.renderings > MAX_SECTION_RENDERINGS) throw new TemplateError('Its sections repeat too often.');
    const text = super.renderTokens(...parameters);
    this.characters += text.length;
    if (this.characters > MAX_PROMPT_LENGTH) {
      throw new TemplateError(`It would become longer than ${MAX_PROMPT_LENGTH} characters.`);
    }
    return text;
  }

  /** Triple braces mean the same as double ones, since nothing is escaped. */
  override unescapedValue(token: string[], context: mustache.Context): string {
    return this.escapedValue(token, context, { escape: printed });
  }
}

function parsed(template: string): string[][] {
  try {
    return new mustache.Writer().parse(template);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    throw new TemplateError(`It is no Mustache template: ${message}.`, { cause: error });
  }
}

function inspect(tokens: readonly (readonly unknown[])[], depth: number, steps: Set<string>): void {
  for (const [kind, value, , , inner] of tokens) {
    if (kind === 'text' || kind === '!') continue;
    const path = String(value);
    if (kind === '>' || kind === '=')
      throw new TemplateError('It may not include partials or set delimiters.');
    requirePath(path, depth, steps);
    if (!Array.isArray(inner)) continue;
    if (depth === MAX_SECTION_DEPTH)
      throw new TemplateError(`Its sections may be ${MAX_SECTION_DEPTH} deep.`);
    inspect(inner, depth + 1, steps);
  }
}

function requirePath(path: string, depth: number, steps: Set<string>): void {
  if (!PATH.test(path)) throw new TemplateError(`"{{${path}}}" names nothing.`);
  const [root = '', step] = path.split('.');
  if (root === 'steps') {
    if (step === undefined || step === '') {
      throw new TemplateError('A step is named by itself: {{steps.plan.output}}.');
    }
    steps.add(step);
    return;
  }
  if (depth === 0 && !ROOTS.includes(root)) {
    throw new TemplateError(`There is no "${root}"; there are ${ROOTS.join(', ')}.`);
  }
}

function viewOf(scope: Scope) {
  const steps = [...scope.steps].map(([name, step]) => [name, stepView(name, step)]);
  return { ...scope, steps: Object.fromEntries(steps) };
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
