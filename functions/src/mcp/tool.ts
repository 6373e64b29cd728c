/** Definition of a tool and of a toolset. Source: CONTRIBUTING.md#add-a-tool. */
import { z } from 'zod';
import { type Caller, type Scope, WORKSPACE_FORM, WORKSPACE_NAME } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import type { RecordResponse } from '../kernel/commit.ts';
import { mapped } from '../kernel/documentCodec.ts';
import { MusterError } from '../kernel/errors.ts';
import { type JsonObject, jsonObject } from '../kernel/json.ts';
import type { Loosened } from '../kernel/loosening.ts';
import { lazy } from '../kernel/memoCache.ts';
import { hasAtMost } from '../kernel/text.ts';
import type { CallContext, McpTaskState } from './callContext.ts';
import { unwrapped } from './jsonSchema.ts';
import type { Prompt } from './prompt.ts';
import type { Resource, ResourceTemplate } from './resource.ts';
import { argumentsChecker, isRecord, type WithBrandedIds } from './validation.ts';

/** Values that a response is built from: texts can be times, and lists and objects can be read-only. */
export type Given<Value> = Value extends string
  ? string extends Value
    ? Value | Date
    : Value
  : Value extends readonly (infer Item)[]
    ? readonly Given<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Given<Value[Key]> }
      : Value;

const timeText = (part: unknown): string | undefined => (part instanceof Date ? part.toISOString() : undefined);

/** Returns whether a value contains a time. Most large responses contain none, and copying them would take long. */
function hasTime(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Date || Object.values(value).some(hasTime);
}

const guidanceTexts = z.registry<{ readonly isGuidance: true }>();

/** Schema of a text in which tool names are replaced by those of the caller's endpoint. Only for texts by Muster. */
export function guidance(): z.ZodString {
  return z.string().register(guidanceTexts, { isGuidance: true });
}

/** Where a response contains guidance: in a text, in the entries of a list, or in fields of an object. */
export type GuidancePlan =
  | 'text'
  | { readonly each: GuidancePlan }
  | { readonly fields: ReadonlyMap<string, GuidancePlan> };

/** Returns where responses with this schema contain guidance; undefined if they contain none. */
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

/** The four hints of MCP, all of which are required here. Source: MCP 2025-11-25, ToolAnnotations. */
export type ToolHints = Readonly<
  Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>
>;

interface ToolDescription<Input extends z.ZodObject, Output extends z.ZodObject> {
  /** Name of the tool and of its file, as specified, without the toolset: `create_task`, `registerAgent`. */
  readonly name: string;
  readonly title: string;
  /** One line for a model: what the tool does, and when to use another tool. */
  readonly description: string;
  /** Limits and special cases, which short tool lists omit. */
  readonly details?: string;
  /** Arguments that callers rarely need. The tool accepts them, but short tool lists omit them. */
  readonly rare?: readonly string[];
  /** Schema of the arguments. It is strict: unknown arguments are errors. */
  readonly input: Input;
  /** Schema of the response. Fields that it does not contain are removed from the response. */
  readonly output: Output;
  readonly annotations: ToolHints;
  readonly role: Role;
  /** Minimum role of agents, if it is higher than that of people. */
  readonly agentRole?: Role;
  /** Scope of the required role. Default: the scope of the toolset. */
  readonly scope?: Scope;
  /** Arguments of an example call, which the reference shows and a test runs. */
  readonly example: z.input<Input>;
  /** The response may have up to 1 MiB, more than clients show a model by default, because it must be complete. */
  readonly returnsWhole?: true;
  /** Suggestion for reading a large response in parts. If set, such a response is refused and not truncated. */
  readonly ifTooLarge?: string;
  /** Whether a workspace may require approval of calls. Arguments are then stored, so they must not be secret. */
  readonly approvable?: true;
  /** Whether credentials that do not include the toolset may call the tool, because it describes only the caller. */
  readonly openToAll?: true;
  /** Limits that a call may loosen. Loosening one requires approval. Source: docs/security.md#two-rules. */
  readonly loosens?: readonly Loosened[];
  /**
   * Whether the tool may send notifications; an argument: only calls with this argument may. Such calls can have a
   * stream, which costs more than JSON.
   */
  readonly notifies?: true | (keyof Input['shape'] & string);
  /** Whether agents call the tool so often that its successful calls are counted but not logged. */
  readonly routine?: true;
  /** Whether a call always becomes a task, so that clients without support for tasks cannot call the tool. */
  readonly taskOnly?: true;
  /** Name of the file in the toolset's folder `views/`, without extension, that shows the response in chat apps. */
  readonly view?: string;
}

interface ToolDefinition<Services, Input extends z.ZodObject, Output extends z.ZodObject, Outcome>
  extends ToolDescription<Input, Output> {
  /** Returns the maximum cost in US dollars; undefined for a run's default budget. Omit if no maximum is known. */
  maxUsd?(input: z.output<Input>): number | undefined;
  handler(context: WritingContext<Services, Outcome>, input: z.output<Input>): Promise<Outcome>;
  /** Returns the response as text for terminals, with all important data. Programs read the structured response. */
  text?(answer: z.output<Output>): string;
  /** How MCP shows long calls of this tool as tasks. */
  readonly task?: TaskSource<Services, Given<z.input<Output>>>;
  /** Completes a stored response for a repeated call, if the response contains data that must not be stored. */
  replay?(context: CallContext<Services>, input: z.output<Input>, stored: JsonObject): Promise<Given<z.input<Output>>>;
}

/** Reads work that MCP shows as a task. The context is that of a resource: it can neither write nor wait. */
export interface TaskSource<in Services, out Response> {
  /** Form of the ids of the work. */
  readonly ids: RegExp;
  /** @throws MusterError NOT_FOUND if the work is missing or hidden from the caller */
  state(context: CallContext<Services>, id: string): Promise<McpTaskState>;
  /** Returns the response to a call that waited for the end. @throws MusterError that such a call gets */
  response(context: CallContext<Services>, id: string): Promise<Response>;
}

/** Converts the outcome of a call to its response, both for the caller and for storage under an idempotency key. */
interface Rendering<Input extends z.ZodObject, Output extends z.ZodObject, Outcome> {
  response(outcome: Outcome, input: z.output<Input>): Given<z.input<Output>>;
}

/** Context of a handler. It contains the function that stores the response in the same commit as the changes. */
export interface WritingContext<Services, Outcome> extends CallContext<Services> {
  readonly recordResponse: RecordResponse<Outcome>;
}

/** Returns the full name of a tool, such as `coordination.create_task`, which is used in logs and errors. */
export function fullName(toolset: string, name: string): string {
  return `${toolset}.${name}`;
}

/** A tool that the URL selects, with data of its toolset. */
export interface FoundTool {
  readonly toolset: string;
  readonly tool: Tool;
  readonly scope: Scope;
  /** Error format of the toolset, if it differs from the default. */
  readonly errors?: ErrorEnvelope | undefined;
}

export interface PreparedCall<in Services = never> {
  /** Validated arguments without the idempotency key. A repeated call with this key must have the same arguments. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  /** Maximum cost of the call in US dollars; undefined for the default budget of a run. */
  readonly maxUsd: number | undefined;
  /** Runs the handler, and validates and returns its response. */
  run(context: CallContext<Services>): Promise<JsonObject>;
  /** Returns the response of the first call with the same idempotency key. */
  replay(context: CallContext<Services>, stored: JsonObject): Promise<JsonObject>;
}

/** A tool without the types of its arguments and response. Its input includes `idempotency_key`. */
export interface Tool<in Services = never> extends ToolDescription<z.ZodObject, z.ZodObject> {
  /** Returns the response as text. Default: JSON. */
  readonly text?: (answer: JsonObject) => string;
  readonly task?: TaskSource<Services, JsonObject>;
  /** Returns the workspace that a call names; undefined if it names none or an invalid one, which `prepare` rejects. */
  workspaceIn(rawArguments: Readonly<Record<string, unknown>>): string | undefined;
  /** @throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, which names the argument */
  prepare(rawArguments: Readonly<Record<string, unknown>>): PreparedCall<Services>;
}

export function mayNeedApproval({ approvable, loosens = [] }: Pick<Tool, 'approvable' | 'loosens'>): boolean {
  return approvable === true || loosens.length > 0;
}

/** Properties of tools that only read data of Muster. */
export const reading = {
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
} as const;

export type WritingHints = Pick<ToolHints, 'destructiveHint' | 'idempotentHint'>;

/** Returns the properties of tools that write data of Muster. @param loosens limits that a call may loosen */
export const writing = (role: Role, hints: WritingHints, loosens: readonly Loosened[] = []) => ({
  annotations: { readOnlyHint: false, ...hints, openWorldHint: false },
  loosens,
  role,
});

/** Returns a schema of an object in which every field is optional, as in the specifications. */
export function optionalFields<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).partial();
}

/** Returns the list, or undefined if it is empty. */
export function optionalList<Item>(list: readonly Item[] = []): readonly Item[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** Returns the schema of a text. Tool lists omit its maximum length, as the specifications do. */
export function textUpTo(max: number): z.ZodString {
  return z.string().refine((text) => hasAtMost(text, max), `expected at most ${max} characters`);
}

/** Returns the schema of a list. Tool lists omit its maximum length, as the specifications do. */
export function listUpTo<Item extends z.ZodType>(max: number, item: Item, items = 'entries') {
  return z.array(item).refine((list) => list.length <= max, `expected at most ${max} ${items}`);
}

/** Returns the schema of a whole number. Tool lists omit its range, as the specifications do. */
export function wholeNumber(min: number, max: number): z.ZodNumber {
  return z
    .number()
    .refine(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `expected a whole number from ${min} to ${max}`,
    );
}

/** Schema of a claim epoch. */
export const claimNumber = z
  .number()
  .refine((value) => Number.isSafeInteger(value) && value > 0, 'expected a whole number above 0');

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

/** Every tool without an own argument of this name gets it, so that one connection can work in several workspaces. */
const workspaceArgument = z.strictObject({
  workspace: z
    .string()
    .regex(WORKSPACE_NAME, WORKSPACE_FORM)
    .optional()
    .describe("Workspace of this call; default: that of the URL, or the caller's home workspace."),
});

const checkWorkspace = argumentsChecker(workspaceArgument);

/** Returns the function with which a toolset declares tools. Tools that write get the argument `idempotency_key`. */
export function toolsFor<Services>() {
  function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
    definition: ToolDefinition<Services, Input, Output, Given<z.input<Output>>> & {
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
      | (ToolDefinition<Services, Input, Output, Given<z.input<Output>>> & { readonly response?: undefined })
      | (ToolDefinition<Services, Input, Output, Outcome> & Rendering<Input, Output, Outcome>),
  ): Tool<Services> {
    if (definition.response !== undefined) return toolOf(definition);
    return toolOf({ ...definition, response: (outcome: Given<z.input<Output>>) => outcome });
  }
  return defineTool;
}

function toolOf<Services, Input extends z.ZodObject, Output extends z.ZodObject, Outcome>(
  definition: ToolDefinition<Services, Input, Output, Outcome> & Rendering<Input, Output, Outcome>,
): Tool<Services> {
  const { handler, response, replay, input, maxUsd, text, task, ...rest } = definition;
  const keyed = !rest.annotations.readOnlyHint;
  // Prepared when a tool is first listed or called, because most instances use few tools.
  const isPlaced = !('workspace' in input.shape);
  const common = { ...(keyed && keyArgument.shape), ...(isPlaced && workspaceArgument.shape) };
  const listed = lazy((): z.ZodObject => input.extend(common));
  const workspaceIn = ({ workspace }: Readonly<Record<string, unknown>>) =>
    isPlaced ? workspaceArgument.shape.workspace.safeParse(workspace).data : undefined;
  const check = lazy(() => argumentsChecker(input, Object.keys(listed().shape)));
  const shown = (value: unknown): JsonObject => {
    const isMapped = isRecord(value) && hasTime(value);
    return jsonObject.parse(rest.output.parse(isMapped ? mapped(value, timeText) : value));
  };
  const guidance = lazy(() => ({ plan: guidanceIn(rest.output) }));
  const render = (answer: unknown, { directory }: CallContext<Services>): JsonObject => {
    const plain = shown(answer);
    const { plan } = guidance();
    return plan ? jsonObject.parse(withGuidanceNames(plain, plan, directory.named)) : plain;
  };
  return {
    ...rest,
    ...(task && {
      task: { ...task, response: async (context, id) => render(await task.response(context, id), context) },
    }),
    ...(text && { text: (given: JsonObject) => text(rest.output.parse(given)) }),
    get input() {
      return listed();
    },
    workspaceIn,
    prepare(rawArguments) {
      const { idempotency_key: rawKey, ...keyless } = rawArguments;
      const { workspace, ...plain } = keyed ? keyless : rawArguments;
      if (isPlaced && workspace !== undefined) checkWorkspace({ workspace });
      const checked = check()(isPlaced ? plain : keyed ? keyless : rawArguments);
      return {
        input: checked,
        maxUsd: maxUsd === undefined ? Number.POSITIVE_INFINITY : maxUsd(checked),
        idempotencyKey: keyed ? checkKey({ idempotency_key: rawKey }).idempotency_key : undefined,
        async run(context) {
          const { operation } = context;
          const answer = (outcome: Outcome) => render(response(outcome, checked), context);
          const recordResponse: RecordResponse<Outcome> = (outcome) =>
            operation.argumentsHash === undefined ? { by: operation.by } : operation.recordResponse(answer(outcome));
          return answer(await handler({ ...context, recordResponse }, checked));
        },
        replay: async (context, stored) => (replay ? shown(await replay(context, checked, stored)) : stored),
      };
    },
  };
}

/** Replaces tool names in the guidance of a response by those at the caller's endpoint. */
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

/** Error format that the specification of a toolset defines. */
export interface ErrorEnvelope {
  /** @param details the details of the error that may be shown to the caller */
  show(error: MusterError, details: JsonObject): JsonObject;
  /**
   * Schema of errors, for the listed output schema: `structuredContent` must match `outputSchema`, and
   * `@modelcontextprotocol/sdk` 1.x also validates errors and hides those that do not match. The network
   * specification requires fields that errors lack, so its error format is not listed. Source: MCP 2025-11-25,
   * "Output Schema"; modelcontextprotocol/typescript-sdk, issue 1943.
   */
  readonly schema: z.ZodObject;
}

/** Server-sent event. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface ServerSentEvent {
  /** Id of the event. When a client reconnects, it sends the last id as `Last-Event-ID`. */
  readonly id?: string;
  /** Type of the event. Default: `message`. */
  readonly event?: string;
  readonly data: string;
}

/** Source of the `/mcp/events` stream. */
export interface EventSource<in Services = never> {
  /** Name of the stream in the log. */
  readonly name: string;
  /**
   * @returns a function that opens a stream of existing and then new events, which ends when the signal fires
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

/** A toolset, as its folder exports it. `Services`: the services that its tools and resources use. */
export interface Toolset<in Services = never> {
  /** Name of the toolset's folder. */
  readonly name: string;
  /** One line for the server instructions: the purpose of the toolset, and the tool to call first. */
  readonly instructions: string;
  readonly tools: readonly Tool<Services>[];
  readonly resources: readonly Resource<Services>[];
  readonly templates?: readonly ResourceTemplate<Services>[];
  readonly prompts?: readonly Prompt<Services>[];
  /** Scope of the roles that the tools require. Default: the workspace of the call. */
  readonly scope?: Scope;
  /** Error format of the toolset. Default: that of the network specification. */
  readonly errors?: ErrorEnvelope;
  readonly events?: EventSource<Services>;
}

/** Toolsets and the services that their tools use. The server does not know the types of these services. */
export interface Served {
  readonly toolsets: readonly Toolset[];
  readonly services: () => never;
}

export function serveToolsets<Services>(toolsets: readonly Toolset<Services>[], services: Services): Served {
  // The tools of these toolsets accept these services, but the hidden type cannot express this: hence `never`.
  return { toolsets, services: () => services as never };
}

// The argument `clear`, with which an update removes fields. Source: docs/semantics.md#the-endpoint.

/** Returns the optional argument that lists the fields to remove. */
export function clearArgument<const Fields extends readonly [string, ...string[]]>(...fields: Fields) {
  return z.array(z.enum(fields)).optional().describe('Fields to remove');
}

/**
 * Returns a function that returns the change of a field: its new value, null to remove, or undefined to keep.
 * @throws MusterError VALIDATION_ERROR if the field has a new value and is listed in `clear`
 */
export function clearedFields<Field extends string>(clear: readonly Field[] = []) {
  return <Value>(field: Field, value: Value | undefined): Value | null | undefined => {
    if (!clear.includes(field)) return value;
    if (value === undefined) return null;
    throw new MusterError('VALIDATION_ERROR', `Argument "${field}" is both set and listed in clear.`, {
      field,
      reason: 'GIVEN_AND_CLEARED',
      suggestion: `To remove the field, omit "${field}". To set it, remove "${field}" from clear.`,
    });
  };
}
