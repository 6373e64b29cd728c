/**
 * Conditions of steps and of repetitions: a small part of CEL. Nothing in it can loop, call out or reach beyond
 * its scope: comprehensions, regular expressions, maps and everything not listed here is refused, so that an
 * evaluation costs no more than reading the expression and the texts that it names.
 */

import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { ExpressionError, type Scope } from './scope.ts';

const limits = { maxAstNodes: 100, maxDepth: 16, maxListElements: 20, maxMapEntries: 0, maxCallArguments: 2 };

const FUNCTIONS: readonly string[] = [
  'size',
  'has',
  'int',
  'double',
  'string',
  'contains',
  'startsWith',
  'endsWith',
  'lowerAscii',
  'upperAscii',
  'trim',
];

const environment = new Environment({ limits })
  .registerVariable('input', 'string')
  .registerVariable('context', 'map')
  .registerVariable('iteration', 'int')
  .registerVariable('steps', 'map');

const EXAMPLE = 'A condition is CEL, such as steps.review.output.startsWith("APPROVED").';

/** @returns the steps that it names @throws ExpressionError where it is no condition; the message says why */
export function checkCondition(expression: string): { readonly steps: readonly string[] } {
  const { valid, type, error } = environment.check(expression);
  if (!valid) throw new ExpressionError(`${summaryOf(error)} ${EXAMPLE}`);
  if (type !== 'bool' && type !== 'dyn') throw new ExpressionError(`It gives ${type}, not true or false.`);
  const steps = new Set<string>();
  inspect(environment.parse(expression).ast, steps);
  return { steps: [...steps] };
}

/** @param expression as checkCondition has accepted it @throws ExpressionError where it cannot be evaluated in this scope */
export function evaluateCondition(expression: string, scope: Scope): boolean {
  const { input, context, iteration, steps } = scope;
  const values = { input, context, iteration: BigInt(iteration), steps: Object.fromEntries(steps) };
  let value: unknown;
  try {
    value = environment.evaluate(expression, values);
  } catch (error) {
    throw new ExpressionError(summaryOf(error), { cause: error });
  }
  if (typeof value === 'boolean') return value;
  throw new ExpressionError('It gives something else than true or false.');
}

function inspect(node: ASTNode, steps: Set<string>): void {
  if ((node.op === 'call' || node.op === 'rcall') && !FUNCTIONS.includes(node.args[0])) {
    throw new ExpressionError(`There is no ${node.args[0]}() here; there are ${FUNCTIONS.join(', ')}.`);
  }
  const named = stepNamed(node);
  if (named !== undefined) {
    steps.add(named);
    return;
  }
  if (node.op === 'id' && node.args === 'steps') {
    throw new ExpressionError('A step is named by itself: steps.plan.output, or steps["plan-b"].output.');
  }
  for (const inner of nodesWithin(node.args)) inspect(inner, steps);
}

/** The step in `steps.plan` and `steps["plan"]`. */
function stepNamed({ op, args }: ASTNode): string | undefined {
  if (op !== '.' && op !== '[]') return undefined;
  const [of, key] = args;
  if (of.op !== 'id' || of.args !== 'steps') return undefined;
  if (typeof key === 'string') return key;
  return key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
}

function nodesWithin(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesWithin);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** Said of the caller's own expression, without the excerpt that the message has. */
function summaryOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('summary' in error)) return 'It cannot be read.';
  const text = String(error.summary).split('\n', 1)[0] ?? '';
  return text.endsWith('.') ? text : `${text}.`;
}
