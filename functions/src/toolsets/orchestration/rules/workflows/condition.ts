/**
 * Conditions of steps and of repetitions, in a subset of CEL. Everything that is not listed here is rejected, such as
 * comprehensions, regular expressions and maps. Therefore evaluating a condition cannot loop, call external code or
 * read other data, and costs no more than reading the expression and its texts.
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

const EXAMPLE = 'A condition is a CEL expression, such as steps.review.output.startsWith("APPROVED").';

/** @returns the steps to which the condition refers @throws ExpressionError whose message explains what is invalid */
export function checkCondition(expression: string): readonly string[] {
  const { valid, type, error } = environment.check(expression);
  if (!valid) throw new ExpressionError(`${summaryOf(error)} ${EXAMPLE}`);
  if (type !== 'bool' && type !== 'dyn') throw new ExpressionError(`The result is ${type}, not a boolean.`);
  const steps = new Set<string>();
  inspect(environment.parse(expression).ast, steps);
  return [...steps];
}

/** @param expression checked by checkCondition @throws ExpressionError if it cannot be evaluated with this scope */
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
  throw new ExpressionError('The result is not a boolean.');
}

function inspect(node: ASTNode, steps: Set<string>): void {
  if ((node.op === 'call' || node.op === 'rcall') && !FUNCTIONS.includes(node.args[0]))
    throw new ExpressionError(`Unknown function ${node.args[0]}(). Use ${FUNCTIONS.join(', ')}.`);
  const named = stepNamed(node);
  if (named !== undefined) {
    steps.add(named);
    return;
  }
  if (node.op === 'id' && node.args === 'steps')
    throw new ExpressionError('Use steps with a step name: steps.plan.output, or steps["plan-b"].output.');
  for (const inner of nodesWithin(node.args)) inspect(inner, steps);
}

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

/** Omits the excerpt of the expression, which follows the first line of a CEL error. */
function summaryOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('summary' in error)) return 'Invalid expression.';
  const text = String(error.summary).split('\n', 1)[0] ?? '';
  return text.endsWith('.') ? text : `${text}.`;
}
