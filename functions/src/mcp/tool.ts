/** Shape of a tool and of a toolset. Source: CONTRIBUTING.md#add-a-tool. */

import { z } from 'zod';
import type { Caller, Scope } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import type { RecordResponse } from '../kernel/commit.ts';
import { MusterError } from '../kernel/errors.ts';
import { type JsonObject, jsonObject } from '../kernel/json.ts';
import type { Loosened } from '../kernel/loosening.ts';
import { hasAtMost } from '../kernel/text.ts';
import type { CallContext } from './callContext.ts';
import { unwrapped } from './jsonSchema.ts';
import type { Resource, ResourceTemplate } from './resource.ts';
import { argumentsChecker, isRecord, type WithBrandedIds } from './validation.ts';

const guidanceTexts = z.registry<{ readonly isGuidance: true }>();

/** Declares a response text in which full tool names are rewritten. It must not contain text from others. */
export function guidance(): z.ZodString {
  return z.string().register(guidanceTexts, { isGuidance: true });
}

/** Places of guidance in a response: a text, each entry of a list, fields of an object. */
export type GuidancePlan =
  | 'text'
  | { readonly each: GuidancePlan }
  | { readonly fields: ReadonlyMap<string, GuidancePlan> };

/** Returns the places of guidance in responses of a schema; undefined if it has none. */
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

/** MCP's four hints, all required here. Source: MCP 2025-11-25, ToolAnnotations. */
export type ToolHints = Readonly<
  Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>
>;

interface ToolDescription<Input extends z.ZodObject, Output extends z.ZodObject> {
  /** Name in the specification and of the file, without the toolset: `create_task`, `registerAgent`. */
  readonly name: string;
  readonly title: string;
  /** One line for a model: what the tool does, and when to use another one. */
  readonly description: string;
  /** Details that the light list omits: bounds, limits and special cases. */
  readonly details?: string;
  /** Audience other than agents in general. The light list omits the tool. */
  readonly audience?: 'runners' | 'older clients' | 'administrators';
  /** Rarely needed arguments. The tool accepts them, but the light list omits them. */
  readonly rare?: readonly string[];
  /** Strict: unknown arguments are errors. */
  readonly input: Input;
  /** Schema of the response. Unknown fields are dropped. */
  readonly output: Output;
  readonly annotations: ToolHints;
  /** Minimum role. */
  readonly role: Role;
  /** Minimum role of an agent, if people need less. */
  readonly agentRole?: Role;
  /** Scope of the required role. Default: the toolset's scope. */
  readonly scope?: Scope;
  /** Shown in the reference and run by a test. */
  readonly example: z.input<Input>;
  /** The response, such as a document, may have 1 MiB instead of the size that clients show a model by default. */
  readonly returnsWhole?: true;
  /** How to read a large response in parts. If set, a too large response is refused and not truncated. */
  readonly ifTooLarge?: string;
  /** Whether a workspace may require approval. Arguments are then stored and must not contain secrets. */
  readonly approvable?: true;
  /** Credentials for other toolsets may call it, too, because it describes the caller. */
  readonly openToAll?: true;
  /** Limits that a call may loosen, which needs approval. Source: docs/security.md#two-rules. */
  readonly loosens?: readonly Loosened[];
  /** Whether it may call `notify`. Its callers are offered a stream, which costs more than JSON. */
  readonly notifies?: true;
  /** Whether agents call it constantly. Successful calls are counted but not logged. */
  readonly routine?: true;
  /** Name of a file in the toolset's `views/`, without extension: a page that shows the response in chat apps. */
  readonly view?: string;
}

/** Definition of a tool in its source file. */
interface ToolDefinition<Services, Input extends z.ZodObject, Output extends z.ZodObject, Outcome>
  extends ToolDescription<Input, Output> {
  /** Maximum cost of a call in US dollars; undefined: the default run budget. If absent, the cost is not limited. */
  maxUsd?(input: z.output<Input>): number | undefined;
  handler(context: WritingContext<Services, Outcome>, input: z.output<Input>): Promise<Outcome>;
  /** Returns the response as text for terminals, with all important data. Programs use the structured response. */
  text?(answer: z.output<Output>): string;
  /** Converts a stored response to a replayed one, for tools whose responses contain data that must not be stored. */
  replay?(context: CallContext<Services>, input: z.output<Input>, stored: JsonObject): Promise<z.input<Output>>;
}

/** Renders a call's outcome for the caller and for the record of its key. */
interface Rendering<Input extends z.ZodObject, Output extends z.ZodObject, Outcome> {
  response(outcome: Outcome, input: z.output<Input>): z.input<Output>;
}

/** Context of a handler, with the function that records its response in the commit. */
interface WritingContext<Services, Outcome> extends CallContext<Services> {
  readonly recordResponse: RecordResponse<Outcome>;
}

/** Returns the full name, for logs, idempotency records and errors: `coordination.create_task`. */
export function fullName(toolset: string, name: string): string {
  return `${toolset}.${name}`;
}

/** A tool found in a selection. */
export interface FoundTool {
  readonly toolset: string;
  readonly tool: Tool;
  readonly scope: Scope;
  /** Envelope of the toolset, if it has its own. */
  readonly errors?: ErrorEnvelope | undefined;
}

/** A call with validated arguments. */
export interface PreparedCall<in Services = never> {
  /** Validated arguments without the idempotency key. Repeated calls are compared with them. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  /** Maximum cost in US dollars; undefined: the default run budget. */
  readonly maxUsd: number | undefined;
  /** Runs the handler and validates its response. */
  run(context: CallContext<Services>): Promise<JsonObject>;
  /** Replays the stored response. */
  replay(context: CallContext<Services>, stored: JsonObject): Promise<JsonObject>;
}

/** A tool with erased types. Its input includes `idempotency_key`. `Services`: the services that its handler uses. */
export interface Tool<in Services = never> extends ToolDescription<z.ZodObject, z.ZodObject> {
  /** Returns the response as text. Default: JSON. */
  readonly text?: (answer: JsonObject) => string;
  /** @throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, naming the argument */
  prepare(rawArguments: Readonly<Record<string, unknown>>): PreparedCall<Services>;
}

/** Returns a part of a response in which the contract requires no field. */
export function optionalFields<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).partial();
}

/** Returns a text schema with a maximum length that the contract does not list. */
export function textUpTo(max: number): z.ZodString {
  return z.string().refine((text) => hasAtMost(text, max), `expected at most ${max} characters`);
}

/** Returns a list schema with a maximum length that the contract does not list. */
export function listUpTo<Item extends z.ZodType>(max: number, item: Item, items = 'entries') {
  return z.array(item).refine((list) => list.length <= max, `expected at most ${max} ${items}`);
}

/** Returns a whole number schema with bounds that the contract does not list. */
export function wholeNumber(min: number, max: number): z.ZodNumber {
  return z
    .number()
    .refine(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `expected a whole number from ${min} to ${max}`,
    );
}

/** Claim epoch of a task. */
export const claimNumber = z
  .number()
  .refine((value) => Number.isSafeInteger(value) && value > 0, 'expected a whole number above 0');

/** Maximum length of an idempotency key. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 200;

const keyArgument = z.strictObject({
  idempotency_key: z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_LENGTH)
    .optional()
    .describe('Repeating a call with the same key and arguments within 24 hours returns the first result.'),
});

const checkKey = argumentsChecker(keyArgument);

/** Returns a function to declare tools. Writing tools get `idempotency_key`; `response` renders the outcome. */
export function toolsFor<Services>() {
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
    definition: ToolDefinition<Services, Input, Output, z.input<Output>> & {
      readonly response?: undefined;
      readonly input: WithBrandedIds<Input>;
    },
  ): Tool<Services>;
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
    definition: ToolDefinition<Services, Input, Output, Outcome> &
      Rendering<Input, Output, Outcome> & { readonly input: WithBrandedIds<Input> },
  ): Tool<Services>;
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
    definition:
      | (ToolDefinition<Services, Input, Output, z.input<Output>> & { readonly response?: undefined })
      | (ToolDefinition<Services, Input, Output, Outcome> & Rendering<Input, Output, Outcome>),
  ): Tool<Services> {
    if (definition.response !== undefined) return toolOf(definition);
    return toolOf({ ...definition, response: (outcome: z.input<Output>) => outcome });
  }
  return defineTool;
}

function toolOf<Services, Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
  definition: ToolDefinition<Services, Input, Output, Outcome> & Rendering<Input, Output, Outcome>,
): Tool<Services> {
  const { handler, response, replay, input, maxUsd, text, ...rest } = definition;
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
        maxUsd: maxUsd === undefined ? Number.POSITIVE_INFINITY : maxUsd(checked),
        idempotencyKey: keyed ? checkKey({ idempotency_key: rawKey }).idempotency_key : undefined,
        async run(context) {
          const { operation, directory } = context;
          const render = (outcome: Outcome): JsonObject => {
            const plain = shown(response(outcome, checked));
            return guidance ? jsonObject.parse(withGuidanceNames(plain, guidance, directory.named)) : plain;
          };
          const recordResponse: RecordResponse<Outcome> = (outcome) =>
            operation.argumentsHash === undefined ? { by: operation.by } : operation.recordResponse(render(outcome));
          return render(await handler({ ...context, recordResponse }, checked));
        },
        replay: async (context, stored) => (replay ? shown(await replay(context, checked, stored)) : stored),
      };
    },
  };
}

/** Rewrites the tool names in a response's guidance as the caller's endpoint lists them. */
export function withGuidanceNames(value: unknown, plan: GuidancePlan, named: (text: string) => string): unknown {
  if (plan === 'text') return typeof value === 'string' ? named(value) : value;
  if ('each' in plan)
    return Array.isArray(value) ? value.map((one) => withGuidanceNames(one, plan.each, named)) : value;
  if (!isRecord(value)) return value;
  const fields = [...plan.fields].filter(([name]) => value[name] !== undefined);
  return {
    ...value,
    ...Object.fromEntries(fields.map(([name, of]) => [name, withGuidanceNames(value[name], of, named)])),
  };
}

/** Error format of a toolset's specification. */
export interface ErrorEnvelope {
  /** @param details the details of an error that its caller may see */
  show(error: MusterError, details: JsonObject): JsonObject;
  /**
   * Schema of errors for the listed responses: `structuredContent` must match `outputSchema`, and
   * `@modelcontextprotocol/sdk` 1.x also validates errors and hides those that do not match. The network
   * specification requires fields that errors lack, so its envelope is not listed.
   * Source: MCP 2025-11-25, "Output Schema"; modelcontextprotocol/typescript-sdk, issue 1943.
   */
  readonly schema: z.ZodObject;
}

/** Server-sent event. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface ServerSentEvent {
  /** Clients send the last id as `Last-Event-ID` when they reconnect. */
  readonly id?: string;
  /** Type; default `message`. */
  readonly event?: string;
  readonly data: string;
}

/** Source of the `/mcp/events` stream. */
export interface EventSource<in Services = never> {
  /** Name of the stream in the log. */
  readonly name: string;
  /**
   * @returns a function that opens the stream until the signal fires: existing events first, then new ones
   * @throws MusterError if the request does not name a stream
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

/** Toolset, as its folder exports it. `Services`: the services that its tools and resources use. */
export interface Toolset<in Services = never> {
  /** Name of the folder. */
  readonly name: string;
  /** One line for the server instructions: purpose and first call. */
  readonly instructions: string;
  readonly tools: readonly Tool<Services>[];
  readonly resources: readonly Resource<Services>[];
  readonly templates?: readonly ResourceTemplate<Services>[];
  /** Scope of the tools' roles. Default: the workspace of the call. */
  readonly scope?: Scope;
  /** Default: the envelope of the network specification. */
  readonly errors?: ErrorEnvelope;
  readonly events?: EventSource<Services>;
}

/** Toolsets with their services, whose type is hidden from the server. */
export interface Served {
  readonly toolsets: readonly Toolset[];
  readonly services: () => never;
}

export function serveToolsets<Services>(toolsets: readonly Toolset<Services>[], services: Services): Served {
  // Only these toolsets receive the services, but TypeScript cannot express the hidden common type.
  return { toolsets, services: () => services as never };
}

// Removal of fields by an update: `clear` names them. Source: docs/semantics.md#the-endpoint.

/** Returns the optional argument that names the fields to remove. */
export function clearArgument<const Fields extends readonly [string, ...string[]]>(...fields: Fields) {
  return z.array(z.enum(fields)).optional().describe('Fields to remove');
}

/**
 * Returns a function that returns a field's change: a new value, null to remove, undefined to keep.
 * @throws MusterError VALIDATION_ERROR if the field has a new value and is listed in `clear`
 */
export function clearedFields<Field extends string>(clear: readonly Field[] = []) {
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
