/**
 * Prompt templates: Mustache, which has no logic to run. A template reaches nothing but the scope's own values;
 * what models wrote is fenced as data. What a prompt may cost is bound while it is made, and not looked at when it is
 * there.
 */
import { fenced } from '../fence.ts';
import { BoundedText } from './boundedText.ts';
import { printed, type Scope, type StepView } from './scope.ts';
import { type Part, partsOf, stepsNamed, TemplateError } from './templateParts.ts';

/**
 * How many parts may be rendered in all: sections within sections multiply, whether or not they have something to
 * say.
 */
const MAX_PARTS = 100_000;

export interface CheckedTemplate {
  /** The steps that it names. */
  readonly steps: readonly string[];
}

/** @throws TemplateError where it is no template; the message says why */
export function checkTemplate(template: string): CheckedTemplate {
  return { steps: [...stepsNamed(partsOf(template))] };
}

/**
 * @param template as checkTemplate has accepted it
 * @throws TemplateError where the prompt would be too long
 */
export function renderTemplate(template: string, scope: Scope): string {
  const parts = partsOf(template);
  return new Rendering().render(parts, viewOf(scope, stepsNamed(parts)));
}

/** What a section has entered, from the inside out. */
interface Views {
  readonly view: unknown;
  readonly outer?: Views;
}

class Rendering {
  private readonly text = new BoundedText();
  /** What values look like that are no text, by the values themselves. */
  private readonly prints = new Map<unknown, string>();
  private rendered = 0;

  render(parts: readonly Part[], view: unknown): string {
    this.all(parts, { view });
    return this.text.toString();
  }

  private all(parts: readonly Part[], views: Views): void {
    for (const part of parts) {
      this.count();
      this.one(part, views);
    }
  }

  private one(part: Part, views: Views): void {
    if (part.kind === 'text') {
      this.text.add(part.text, 'its own text');
      return;
    }
    const value = found(part.path, views);
    if (part.kind === 'value') this.value(value, part.path);
    else if (part.kind === 'section') this.section(value, part.parts, views);
    else if (isEmpty(value)) this.all(part.parts, views);
  }

  private value(value: unknown, path: string): void {
    if (value === undefined || value === null) return;
    const text = typeof value === 'string' ? value : this.print(value);
    this.text.add(text, `{{${path}}}, which has ${text.length} characters`);
  }

  private section(value: unknown, parts: readonly Part[], views: Views): void {
    if (isEmpty(value)) return;
    for (const view of Array.isArray(value) ? value : [value === true ? views.view : value]) {
      this.count();
      this.all(parts, { view, outer: views });
    }
  }

  private count(): void {
    if (++this.rendered > MAX_PARTS) throw new TemplateError('Its sections repeat too often.');
  }

  private print(value: unknown): string {
    const text = this.prints.get(value) ?? printed(value);
    this.prints.set(value, text);
    return text;
  }
}

/** What Mustache takes for false. */
function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** The value of the innermost view that has it. */
function found(path: string, views: Views): unknown {
  if (path === '.') return views.view;
  const keys = path.split('.');
  for (let within: Views | undefined = views; within !== undefined; within = within.outer) {
    const value = reached(within.view, keys);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Goes by own properties alone, so that nothing is reached which the scope does not hold. */
function reached(view: unknown, keys: readonly string[]): unknown {
  let value = view;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

/** @param names of the steps that are to be seen: to fence an output costs reading it */
function viewOf(scope: Scope, names: ReadonlySet<string>) {
  const steps = [...scope.steps].filter(([name]) => names.has(name));
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
