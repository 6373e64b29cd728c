/** The shape of a tool and of a toolset. Source: CONTRIBUTING.md#add-a-tool. */

import { z } from 'zod';
import type { Caller, Scope } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import type { RecordAnswer } from '../kernel/commit.ts';
import { MusterError } from '../kernel/errors.ts';
import { type JsonObject, jsonObject } from '../kernel/json.ts';
import type { Loosened } from '../kernel/loosening.ts';
import { hasAtMost } from '../kernel/text.ts';
import type { CallContext } from './callContext.ts';
import { unwrapped } from './jsonSchema.ts';
import type { Resource, ResourceTemplate } from './resource.ts';
import { argumentsChecker, isRecord, type WithBrandedIds } from './validation.ts';

const guidanceTexts = z.registry<{ readonly isGuidance: true }>();

/** A text of an answer in which tools have their full names. It holds nothing that somebody else wrote. */
export function guidance(): z.ZodString {
  return z.string().register(guidanceTexts, { isGuidance: true });
}

/** Where an answer has guidance: a text, each entry of a list, fields of an object. */
export type GuidancePlan =
  | 'text'
  | { readonly each: GuidancePlan }
  | { readonly fields: ReadonlyMap<string, GuidancePlan> };

/** Returns where the answers of a schema have guidance; undefined if nowhere. */
export function guidanceIn(schema: z.core.$ZodType | undefined): GuidancePlan | undefined {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodString) return guidanceTexts.get(inner) && 'text';
  if (inner instanceof z.ZodArray) {
    const each = guidanceIn(inner.element);
    return each && { each };
  }
  if (!(inner instanceof z.ZodObject)) return undefined;
  const fields = Object.entries<z.core.$ZodType>(inner.shape).flatMap(([name, field]) => {
    const plan = guidanceIn(field);
    return plan === undefined ? [] : [[name, plan] as const];
  });
  return fields.length === 0 ? undefined : { fields: new Map(fields) };
}

/** MCP's four hints, all of them required. Source: MCP 2025-11-25, ToolAnnotations. */
export type ToolHints = Readonly<
  Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>
>;

interface Described<Input extends z.ZodObject, Output extends z.ZodObject> {
  /** The specification's name, without the toolset's: `create_task`, `registerAgent`. Also the file's name. */
  readonly name: string;
  readonly title: string;
  /** One line for a model: what it does, and when to take a neighbour instead. */
  readonly description: string;
  /** What the light list leaves out: bounds, limits, and what becomes of special cases. */
  readonly details?: string;
  /** For whom it is, where it is not for agents in general: the light list leaves it out. */
  readonly audience?: 'runners' | 'older clients' | 'those who administer';
  /** Arguments that few calls need: it takes them, and the light list leaves them out. */
  readonly rare?: readonly string[];
  /** Strict: an argument that it does not name is an error. */
  readonly input: Input;
  /** What leaves: fields that it does not name are dropped. */
  readonly output: Output;
  readonly annotations: ToolHints;
  /** The weakest role that may call it. */
  readonly role: Role;
  /** The weakest role of an agent, where people need less. */
  readonly agentRole?: Role;
  /** Where the role is needed; where it says nothing, as its toolset says. */
  readonly scope?: Scope;
  /** Printed in the reference and run by a test. */
  readonly example: z.input<Input>;
  /** Whether its answer, such as a document, is not cut to what clients show a model by default, but has up to 1 MiB. */
  readonly answersWhole?: true;
  /** How to read a large answer in parts, if it is whole or refused: of other answers, long texts are cut. */
  readonly ifTooLarge?: string;
  /** Whether a workspace may want its calls approved: what its arguments hold is then kept, and nothing of them is secret. */
  readonly approvable?: true;
  /** A credential that is restricted to other toolsets may call it, too: it tells callers about themselves. */
  readonly openToAll?: true;
  /** What a call may loosen, and then needs approval; absent if it only reads. Source: docs/security.md#two-rules. */
  readonly loosens?: readonly Loosened[];
  /** Whether it may call `notify`: its callers are then offered a stream, which costs more than JSON. */
  readonly notifies?: true;
  /** Whether agents call it all the time to say nothing new: what went well is counted, and not logged. */
  readonly routine?: true;
  /** The file in its toolset's `views/`, without its ending: a page with which chat apps draw its answer. */
  readonly view?: string;
}

/** A tool as its file writes it. */
interface ToolDefinition<Services, Input extends z.ZodObject, Output extends z.ZodObject, Outcome>
  extends Described<Input, Output> {
  /** The most a call may spend in US dollars; undefined: the deployment's budget of a run. Without it, any amount. */
  mostUsd?(input: z.output<Input>): number | undefined;
  handler(context: WritingContext<Services, Outcome>, input: z.output<Input>): Promise<Outcome>;
  /** The answer for who reads it in a terminal, with all that matters in it: programs have the structured one. */
  text?(answer: z.output<Output>): string;
  /** Turns a stored answer into a replayed one, for tools whose answer holds what must not be stored. */
  replay?(
    context: CallContext<Services>,
    input: z.output<Input>,
    stored: JsonObject,
  ): Promise<z.input<Output>>;
}

/** Renders what came of a call, for the caller and for the record of its key. */
interface Rendering<Input extends z.ZodObject, Output extends z.ZodObject, Outcome> {
  answer(outcome: Outcome, input: z.output<Input>): z.input<Output>;
}

/** What a handler is given: the context of the call, and what records its answer in the commit that writes. */
interface WritingContext<Services, Outcome> extends CallContext<Services> {
  readonly recordAnswer: RecordAnswer<Outcome>;
}

/** The name in logs, in idempotency records and in errors: `coordination.create_task`. */
export function fullName(toolset: string, name: string): string {
  return `${toolset}.${name}`;
}

/** A tool where a selection finds it. */
export interface FoundTool {
  readonly toolset: string;
  readonly tool: Tool;
  readonly scope: Scope;
  /** The toolset's own, where it has one. */
  readonly errors?: ErrorEnvelope | undefined;
}

/** A call whose arguments have been checked and which may now be run. */
export interface PreparedCall<in Services = never> {
  /** The arguments as checked, without the idempotency key: what a repeated call is compared with. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  /** The most that it may spend, in US dollars; undefined for the deployment's budget of a run. */
  readonly mostUsd: number | undefined;
  /** Runs the handler and checks its answer against the output schema. */
  run(context: CallContext<Services>): Promise<JsonObject>;
  /** Answers a repeated call from the stored answer. */
  replay(context: CallContext<Services>, stored: JsonObject): Promise<JsonObject>;
}

/** A tool with erased types; its input is the listed one, with `idempotency_key`. `Services`: as its handler asks. */
export interface Tool<in Services = never> extends Described<z.ZodObject, z.ZodObject> {
  /** The answer as text; as JSON where it says nothing. */
  readonly text?: (answer: JsonObject) => string;
  /** @throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, naming the argument. */
  prepare(rawArguments: Readonly<Record<string, unknown>>): PreparedCall<Services>;
}

/** A part of an answer, none of whose fields the contract requires. */
export function partial<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).partial();
}

/** A text whose longest length the contract does not list. */
export function textUpTo(most: number): z.ZodString {
  return z.string().refine((text) => hasAtMost(text, most), `expected at most ${most} characters`);
}

/** A list whose greatest length the contract does not list. */
export function listUpTo<Item extends z.ZodType>(most: number, item: Item, items = 'entries') {
  return z.array(item).refine((list) => list.length <= most, `expected at most ${most} ${items}`);
}

/** A whole number whose bounds the contract does not list. */
export function wholeNumber(least: number, most: number): z.ZodNumber {
  return z
    .number()
    .refine(
      (value) => Number.isInteger(value) && value >= least && value <= most,
      `expected a whole number from ${least} to ${most}`,
    );
}

/** The number of a claim of a task. */
export const claimNumber = z
  .number()
  .refine((value) => Number.isSafeInteger(value) && value > 0, 'expected a whole number above 0');

/** Of an idempotency key. */
export const MAX_KEY_LENGTH = 200;

const keyArgument = z.strictObject({
  idempotency_key: z
    .string()
    .min(1)
    .max(MAX_KEY_LENGTH)
    .optional()
    .describe('Repeating a call with the same key and arguments within 24 hours returns the first result.'),
});

const checkKey = argumentsChecker(keyArgument);

/** Returns how a toolset declares its tools. Those that write get `idempotency_key`; `answer` renders the outcome. */
export function toolsFor<Services>() {
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
    definition: ToolDefinition<Services, Input, Output, z.input<Output>> & {
      readonly answer?: undefined;
      readonly input: WithBrandedIds<Input>;
    },
  ): Tool<Services>;
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
    definition: ToolDefinition<Services, Input, Output, Outcome> &
      Rendering<Input, Output, Outcome> & { readonly input: WithBrandedIds<Input> },
  ): Tool<Services>;
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
    definition:
      | (ToolDefinition<Services, Input, Output, z.input<Output>> & { readonly answer?: undefined })
      | (ToolDefinition<Services, Input, Output, Outcome> & Rendering<Input, Output, Outcome>),
  ): Tool<Services> {
    if (definition.answer !== undefined) return toolOf(definition);
    return toolOf({ ...definition, answer: (outcome: z.input<Output>) => outcome });
  }
  return defineTool;
}

function toolOf<Services, Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
  definition: ToolDefinition<Services, Input, Output, Outcome> & Rendering<Input, Output, Outcome>,
): Tool<Services> {
  const { handler, answer, replay, input, mostUsd, text, ...rest } = definition;
  const keyed = !rest.annotations.readOnlyHint;
  const listed: z.ZodObject = keyed ? input.extend(keyArgument.shape) : input;
  const check = argumentsChecker(input, Object.keys(listed.shape));
  const shown = (value: unknown): JsonObject => jsonObject.parse(rest.output.parse(value));
  const guidance = guidanceIn(rest.output);
  return {
    ...rest,
    ...(text && { text: (given: JsonObject) => text(rest.output.parse(given)) }),
    input: listed,
    prepare(rawArguments) {
      const { idempotency_key: rawKey, ...others } = rawArguments;
      const checked = check(keyed ? others : rawArguments);
      return {
        input: checked,
        mostUsd: mostUsd === undefined ? Number.POSITIVE_INFINITY : mostUsd(checked),
        idempotencyKey: keyed ? checkKey({ idempotency_key: rawKey }).idempotency_key : undefined,
        async run(context) {
          const { operation, directory } = context;
          const render = (outcome: Outcome): JsonObject => {
            const plain = shown(answer(outcome, checked));
            return guidance ? jsonObject.parse(namedIn(plain, guidance, directory.named)) : plain;
          };
          const recordAnswer: RecordAnswer<Outcome> = (outcome) =>
            operation.argumentsHash === undefined
              ? { by: operation.by }
              : operation.recordAnswer(render(outcome));
          return render(await handler({ ...context, recordAnswer }, checked));
        },
        replay: async (context, stored) => (replay ? shown(await replay(context, checked, stored)) : stored),
      };
    },
  };
}

/** Writes the tools in the guidance of an answer as the caller's endpoint lists them. */
export function namedIn(value: unknown, plan: GuidancePlan, named: (text: string) => string): unknown {
  if (plan === 'text') return typeof value === 'string' ? named(value) : value;
  if ('each' in plan)
    return Array.isArray(value) ? value.map((one) => namedIn(one, plan.each, named)) : value;
  if (!isRecord(value)) return value;
  const fields = [...plan.fields].filter(([name]) => value[name] !== undefined);
  return {
    ...value,
    ...Object.fromEntries(fields.map(([name, of]) => [name, namedIn(value[name], of, named)])),
  };
}

/** How a toolset's specification has errors. */
export interface ErrorEnvelope {
  /** @param details what an error says beyond its message, as far as its caller may see it */
  show(error: MusterError, details: JsonObject): JsonObject;
  /**
   * What the listed answers say of errors: `structuredContent` must be as `outputSchema` says, and
   * `@modelcontextprotocol/sdk` 1.x holds errors against it as well and keeps those that fail to itself.
   * the network specification fixes what its answers require, which leaves no room there: its envelope is not listed.
   * Source: MCP 2025-11-25, "Output Schema"; modelcontextprotocol/typescript-sdk, issue 1943.
   */
  readonly schema: z.ZodObject;
}

/** Server-sent events as text. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface ServerSentEvent {
  /** The client keeps it, and sends it as `Last-Event-ID` when it comes back. */
  readonly id?: string;
  /** Its type; `message` where absent. */
  readonly event?: string;
  /** One line or more. */
  readonly data: string;
}

/** What `/mcp/events` streams. */
export interface EventSource<in Services = never> {
  /** The stream's name in the log. */
  readonly name: string;
  /**
   * @returns opens the stream, until the signal fires: what there is, and then what comes
   * @throws MusterError where the request names nothing to stream
   */
  request(query: URLSearchParams, lastEventId: string | undefined): OpenEvents<Services>;
}

type Events = readonly ServerSentEvent[];

export interface OpenedEvents {
  readonly first: Events;
  readonly following: AsyncIterable<Events>;
}

export type OpenEvents<Services = never> = (
  services: Services,
  caller: Caller,
  end: AbortSignal,
) => Promise<OpenedEvents>;

/** What a toolset's folder exports. `Services`: what its tools and resources ask; without it, any toolset. */
export interface Toolset<in Services = never> {
  /** The folder's name. */
  readonly name: string;
  /** One line for the server's instructions: what it is for and which call comes first. */
  readonly instructions: string;
  readonly tools: readonly Tool<Services>[];
  readonly resources: readonly Resource<Services>[];
  readonly templates?: readonly ResourceTemplate<Services>[];
  /** Where its tools need their roles; absent: in the workspace of the call. */
  readonly scope?: Scope;
  /** Absent: that of the network specification. */
  readonly errors?: ErrorEnvelope;
  readonly events?: EventSource<Services>;
}

/** Toolsets and the services that they ask, of which who serves them knows nothing. */
export interface Served {
  readonly toolsets: readonly Toolset[];
  readonly services: () => never;
}

export function served<Services>(toolsets: readonly Toolset<Services>[], services: Services): Served {
  // They are of one type, which is hidden here: only these toolsets get them, and TypeScript has no word for that.
  return { toolsets, services: () => services as never };
}

// How an update removes a field: `clear` names it. Source: docs/semantics.md#the-endpoint.

/** The optional argument that names the fields that an update removes. */
export function clearArgument<const Fields extends readonly [string, ...string[]]>(...fields: Fields) {
  return z.array(z.enum(fields)).optional().describe('Fields to remove');
}

/**
 * Returns how an update changes one field: the new value; null if `clear` names the field; undefined if it stays.
 * @throws MusterError VALIDATION_ERROR if the field has a new value and `clear` names it
 */
export function clearing<Field extends string>(clear: readonly Field[] = []) {
  return <Value>(field: Field, value: Value | undefined): Value | null | undefined => {
    if (!clear.includes(field)) return value;
    if (value === undefined) return null;
    throw new MusterError('VALIDATION_ERROR', `Argument "${field}" is both set and listed in clear.`, {
      field,
      reason: 'GIVEN_AND_CLEARED',
      suggestion: `Omit "${field}" to remove the field, or remove it from clear to set it.`,
    });
  };
}
