import json from 'firebase-json';
import parser, { type Rule } from 'targaryen/lib/parser/index.js';
import stringMethods from 'targaryen/lib/parser/string-methods.js';
import { isRecord } from '../tree/json.ts';

// The endsWith method of targaryen 3.1.0 checks only the first occurrence of the searched text.
stringMethods.endsWith = (text, end) => text.endsWith(end);

export class RulesError extends Error {}

export type RuleKind = 'read' | 'write' | 'validate';

/** Compiled rules of one path. */
export interface RuleNode {
  readonly rules: Partial<Record<RuleKind, Rule>>;
  readonly indexOn: readonly string[];
  readonly children: ReadonlyMap<string, RuleNode>;
  readonly wildcard: { readonly variable: string; readonly node: RuleNode } | undefined;
}

/** Parses rules, which can contain comments. */
export function parseRules(source: string): { json: object; root: RuleNode } {
  const parsed = parsedJson(source);
  if (!isRecord(parsed) || !parsed.rules || Object.keys(parsed).length !== 1)
    throw new RulesError('Parse error: Expected a single root object with property "rules".');
  return { json: parsed, root: compile(parsed.rules, [], []) };
}

function parsedJson(source: string): unknown {
  try {
    return json.parse(source);
  } catch (error) {
    throw new RulesError(`Parse error: ${messageOf(error)}`);
  }
}

function compile(definition: unknown, at: readonly string[], variables: readonly string[]): RuleNode {
  const where = `/${at.join('/')}`;
  const rules: RuleNode['rules'] = {};
  const children = new Map<string, RuleNode>();
  let indexOn: string[] = [];
  let wildcard: RuleNode['wildcard'];
  for (const [key, value] of Object.entries(rulesObject(definition, where))) {
    if (key === '.read' || key === '.write' || key === '.validate') {
      rules[kindOf(key)] = compileRule(value, `${where}/${key}`, variables, key !== '.read');
    } else if (key === '.indexOn') {
      indexOn = (Array.isArray(value) ? value : [value]).map(String);
    } else if (key.startsWith('.')) {
      throw new RulesError(`${where}: Unknown rule ${key}.`);
    } else if (key.startsWith('$')) {
      refuseSecondWildcard(where, key, wildcard?.variable, variables);
      wildcard = { variable: key, node: compile(value, [...at, key], [...variables, key]) };
    } else {
      children.set(key, compile(value, [...at, key], variables));
    }
  }
  return { rules, indexOn, children, wildcard };
}

function rulesObject(definition: unknown, where: string): Record<string, unknown> {
  if (isRecord(definition) && !Array.isArray(definition)) return definition;
  throw new RulesError(`${where}: Expected rules object.`);
}

function kindOf(key: '.read' | '.write' | '.validate'): RuleKind {
  if (key === '.read') return 'read';
  return key === '.write' ? 'write' : 'validate';
}

function compileRule(value: unknown, where: string, variables: readonly string[], isWrite: boolean): Rule {
  if (typeof value !== 'string' && typeof value !== 'boolean')
    throw new RulesError(`${where}: Expected a string or boolean.`);
  try {
    return parser.parse(String(value), variables, isWrite);
  } catch (error) {
    throw new RulesError(`${where}: ${messageOf(error)}`);
  }
}

function refuseSecondWildcard(
  where: string,
  variable: string,
  sibling: string | undefined,
  outer: readonly string[],
): void {
  if (sibling !== undefined)
    throw new RulesError(`${where}: Cannot have multiple default rules ('${variable}' and '${sibling}').`);
  if (outer.includes(variable))
    throw new RulesError(`${where}: Cannot have a default rule '${variable}' twice on a path.`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
