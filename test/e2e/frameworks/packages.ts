/** Loads other vendors' frameworks for MCP clients from test/clients. Not a test file. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { parsedJson } from '../../../functions/src/kernel/json.ts';
import type { Listed } from '../../support/lists.ts';

/** Loads a package from test/clients/node_modules. */
export const requireClient = createRequire(new URL('../../clients/package.json', import.meta.url));

/** The request that a framework sends when a model calls a tool. */
export interface Sent {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface FunctionTool {
  readonly name: string;
  readonly strict: boolean;
  readonly parameters: object;
  invoke(context: object, argumentsText: string): Promise<unknown>;
}

interface Agents {
  mcpToFunctionTool(
    tool: Listed,
    server: { readonly name: string; callTool(name: string, args: Sent['args'] | null): Promise<unknown> },
    convertSchemasToStrict: boolean,
  ): FunctionTool;
  readonly RunContext: new () => object;
}

/** Returns the tool as OpenAI Agents shows it to a model in strict mode. The tool's requests are added to `sent`. */
export function openAiAgentsTool(tool: Listed, sent: Sent[] = []) {
  const { mcpToFunctionTool, RunContext }: Agents = requireClient('@openai/agents');
  const server = {
    name: 'muster',
    callTool: async (name: string, args: Sent['args'] | null) => {
      sent.push({ name, args: args ?? {} });
      return [{ type: 'text', text: 'done' }];
    },
  };
  const { strict, parameters, invoke } = mcpToFunctionTool(tool, server, true);
  return { strict, parameters, call: (args: object) => invoke(new RunContext(), JSON.stringify(args)) };
}

/** A function's schema for Gemini. Source: https://ai.google.dev/api/caching#Schema */
export interface GeminiSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly items?: GeminiSchema;
  readonly properties?: Readonly<Record<string, GeminiSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly GeminiSchema[];
}

interface GeminiFunction {
  readonly name: string;
  readonly parameters: GeminiSchema;
}

/** Returns the tool as Genkit sends it to Gemini. */
export function genkitFunction(tool: Listed): GeminiFunction {
  const folder = dirname(requireClient.resolve('@genkit-ai/google-genai'));
  const { toGeminiTool }: { toGeminiTool(tool: Listed): GeminiFunction } = requireClient(
    `${folder}/common/converters.js`,
  );
  return JSON.parse(JSON.stringify(toGeminiTool(tool)));
}

/** Returns the tool as Google's Agent Development Kit sends it to Gemini. */
export function adkFunction(tool: Listed): GeminiFunction {
  const { MCPTool }: { MCPTool: new (tool: Listed, sessions: object) => { _getDeclaration(): GeminiFunction } } =
    requireClient('@google/adk/tools/mcp');
  return JSON.parse(JSON.stringify(new MCPTool(structuredClone(tool), {})._getDeclaration()));
}

/** A tool of LangChain, which validates arguments before it sends them. */
interface LangChainTool {
  readonly name: string;
  readonly schema: object;
  invoke(args: object): Promise<unknown>;
}

/** Returns the tools as LangChain shows them to a model. Their requests are added to `sent`. */
export function langChainTools(tools: readonly Listed[], sent: Sent[] = []): Promise<readonly LangChainTool[]> {
  const { loadMcpTools }: { loadMcpTools(server: string, client: object): Promise<readonly LangChainTool[]> } =
    requireClient('@langchain/mcp-adapters');
  return loadMcpTools('muster', {
    listTools: async () => ({ tools }),
    callTool: async ({ name, arguments: args }: { name: string; arguments: Sent['args'] }) => {
      sent.push({ name, args });
      return { content: [{ type: 'text', text: 'done' }] };
    },
  });
}

/** A framework's MCP client, connected to the endpoint. */
export interface Connected {
  readonly names: readonly string[];
  /** Calls the tool through the framework, as a model would, and returns the result. */
  call(name: string, args: Sent['args']): Promise<unknown>;
  close(): Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly token: string;
}

interface AiSdk {
  createMCPClient(
    config: object,
  ): Promise<{
    tools(): Promise<Readonly<Record<string, { execute(args: object, options: object): Promise<unknown> }>>>;
    close(): Promise<void>;
  }>;
}

async function connectAiSdk({ url, token }: Endpoint): Promise<Connected> {
  const { createMCPClient }: AiSdk = requireClient('@ai-sdk/mcp');
  const headers = { Authorization: `Bearer ${token}` };
  const client = await createMCPClient({ transport: { type: 'http', url, headers } });
  const tools = await client.tools();
  return {
    names: Object.keys(tools),
    call: async (name, args) => {
      const { content } = Object(await tools[name]?.execute(args, { toolCallId: 'one', messages: [] }));
      return answerIn(content);
    },
    close: () => client.close(),
  };
}

interface AgentsClient extends Pick<Agents, 'RunContext'> {
  readonly MCPServerStreamableHttp: new (options: object) => { connect(): Promise<void>; close(): Promise<void> };
  getAllMcpTools(options: object): Promise<readonly FunctionTool[]>;
}

/** Connects OpenAI Agents. Like a model in strict mode, calls contain null for each omitted argument. */
async function connectOpenAiAgents({ url, token }: Endpoint): Promise<Connected> {
  const { MCPServerStreamableHttp, getAllMcpTools, RunContext }: AgentsClient = requireClient('@openai/agents');
  const headers = { Authorization: `Bearer ${token}` };
  const server = new MCPServerStreamableHttp({ url, name: 'muster', requestInit: { headers } });
  await server.connect();
  const tools = await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true });
  return {
    names: tools.map(({ name }) => name),
    call: async (name, args) => {
      const tool = tools.find((one) => one.name === name);
      const { properties = {} } = Object(tool?.parameters);
      const unset = Object.fromEntries(Object.keys(properties).map((argument) => [argument, null]));
      return answerIn(await tool?.invoke(new RunContext(), JSON.stringify({ ...unset, ...args })));
    },
    close: () => server.close(),
  };
}

interface LangChainAdapters {
  readonly MultiServerMCPClient: new (
    config: object,
  ) => { getTools(): Promise<readonly LangChainTool[]>; close(): Promise<void> };
}

async function connectLangChain({ url, token }: Endpoint): Promise<Connected> {
  const { MultiServerMCPClient }: LangChainAdapters = requireClient('@langchain/mcp-adapters');
  const headers = { Authorization: `Bearer ${token}` };
  const client = new MultiServerMCPClient({ mcpServers: { muster: { transport: 'http', url, headers } } });
  const tools = await client.getTools();
  return {
    names: tools.map(({ name }) => name),
    call: async (name, args) => answerIn(await tools.find((tool) => tool.name === name)?.invoke(args)),
    close: () => client.close(),
  };
}

/** Returns the tool's response from a framework's output, which is text or a list of text blocks. */
function answerIn(output: unknown): unknown {
  const [first] = [output].flat();
  const text = typeof first === 'string' ? first : String(Object(first).text);
  return parsedJson(text) ?? text;
}

export const FRAMEWORKS = {
  'AI SDK': connectAiSdk,
  'OpenAI Agents': connectOpenAiAgents,
  LangChain: connectLangChain,
} satisfies Readonly<Record<string, (endpoint: Endpoint) => Promise<Connected>>>;
