/** The real coding agents, each with a scripted model behind the local interface of its vendor. */
import { ScriptedOpenAi } from '../../support/models/openai/script.ts';
import { startScriptedGemini } from '../support/scriptedGemini.ts';
import { type Action, type Behavior, startScriptedModel, type ToolCall } from '../support/scriptedModel.ts';
import {
  claudeEnvironment,
  codexEnvironment,
  geminiEnvironment,
  installClaude,
  installCodex,
  installGemini,
  installOpencode,
  opencodeEnvironment,
} from './programs.ts';

export interface RunningModel {
  /** Variables with which the agent uses the model. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

export interface RealAgent {
  readonly tool: string;
  /** Whether the agent gets a message during a turn. */
  readonly hearsDuringTurns: boolean;
  /** Whether the agent reports a limit of its vendor. The others wait silently. */
  readonly reportsLimits: boolean;
  install(bin: string): void;
  /** Returns the tool call with which the agent writes a file. */
  write(path: string, content: string): ToolCall;
  /** Returns a tool call that changes nothing. @param number of the call, because agents stop at repeated calls */
  look(path: string, number: number): ToolCall;
  startModel(home: string, behavior: Behavior): Promise<RunningModel>;
}

const claude: RealAgent = {
  tool: 'CLAUDECODE',
  hearsDuringTurns: true,
  reportsLimits: true,
  install: installClaude,
  write: (file_path, content) => ({ tool: 'Write', input: { file_path, content } }),
  look: (file_path) => ({ tool: 'Read', input: { file_path } }),
  async startModel(home, behavior) {
    const model = await startScriptedModel(behavior);
    // Without this variable, Claude Code repeats a refused request ten times.
    return { env: { ...claudeEnvironment(home, model.url), CLAUDE_CODE_MAX_RETRIES: '1' }, close: model.close };
  },
};

const gemini: RealAgent = {
  tool: 'GEMINI',
  hearsDuringTurns: false,
  reportsLimits: false,
  install: installGemini,
  write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
  look: (path, number) => ({ tool: 'glob', input: { pattern: `${path}.${number}` } }),
  async startModel(home, behavior) {
    const model = await startScriptedGemini(behavior);
    return { env: geminiEnvironment(home, model.url), close: model.close };
  },
};

const codex: RealAgent = {
  tool: 'CODEX',
  hearsDuringTurns: true,
  reportsLimits: true,
  install: installCodex,
  write: (path, content) => command(`mkdir -p "$(dirname ${path})"; printf '%s' '${content}' > ${path}`),
  look: (path) => command(`cat ${path}`),
  startModel: openAi(codexEnvironment),
};

const opencode: RealAgent = {
  tool: 'OPENCODE',
  hearsDuringTurns: false,
  reportsLimits: false,
  install: installOpencode,
  write: (filePath, content) => ({ tool: 'write', input: { filePath, content } }),
  look: (filePath) => ({ tool: 'read', input: { filePath } }),
  startModel: openAi(opencodeEnvironment),
};

/** Agents that every run tests. The others are tested at night. */
export const BY_DAY: readonly RealAgent[] = [claude, codex];
export const ALL: readonly RealAgent[] = [claude, codex, gemini, opencode];

function command(cmd: string): ToolCall {
  return { tool: 'exec_command', input: { cmd } };
}

function openAi(environment: (home: string, baseUrl: string) => NodeJS.ProcessEnv): RealAgent['startModel'] {
  return async (home, behavior) => {
    const script = Array.from(
      { length: MAX_REQUESTS },
      () =>
        async ({ texts, results }: Asked) =>
          answerTo(await behavior(texts, results.length)),
    );
    const model = new ScriptedOpenAi(script);
    await model.start();
    return { env: environment(home, model.baseUrl), close: () => model.stop() };
  };
}

/** More requests than a test makes. */
const MAX_REQUESTS = 200;

interface Asked {
  readonly texts: readonly string[];
  readonly results: readonly string[];
}

function answerTo(action: Action) {
  if (action === undefined) return { text: 'Done.' };
  if (!('status' in action)) return { calls: [action] };
  return action.status === 401 ? { ...action, message: 'Incorrect API key provided: no-key.' } : action;
}
