/** Builds a summary of a coding agent's work from its events. */
import {
  type AgentEvent,
  type AgentResult,
  addTokens,
  NO_TOKENS,
  type Tokens,
  type ToolUse,
  totalOf,
  type Warning,
} from '../agents/agent.ts';
import { cut, shortened } from '../text.ts';
import type { TaskLog } from './log.ts';
import { isPaidByUse } from './payment.ts';

const MAX_COMMANDS = 200;
const MAX_COMMAND_CHARACTERS = 1000;
const MAX_RESULT_CHARACTERS = 4000;
const MAX_SUMMARY_CHARACTERS = 20_000;

/** Maximum number of tool names, which agents can invent. Uses of further tools are counted together. */
const MAX_TOOLS = 200;
const MAX_TOOL_CHARACTERS = 100;
const OTHER_TOOLS = 'other';

export interface AgentWork {
  readonly summary: string;
  readonly model: string | undefined;
  readonly commands: readonly string[];
  readonly tools: Readonly<Record<string, number>>;
  readonly turns: number;
  readonly tokens: Tokens | undefined;
  /** Cost in US dollars, if the agent is paid by use. */
  readonly costUsd: number | undefined;
}

export class Transcript {
  private readonly log: TaskLog;
  /** Folder of the worktree, to which file names in the log are relative. */
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;
  private readonly tools = new Map<string, number>();
  private readonly commands: string[] = [];
  private hasStarted = false;
  private model: string | undefined;
  private hasKey: boolean | undefined;
  private lastText = '';
  /** Parts of the text that the agent is currently writing. */
  private saying = '';
  private turns = 0;
  private result: AgentResult | undefined;
  /** Sums over all results of the session; undefined if the CLI does not report them. */
  private reportedTurns: number | undefined;
  private tokens: Tokens | undefined;
  private warning: Warning | undefined;
  private limitEnd: number | undefined;
  /** Tokens and cost that the agent reported during its work. They count if it ends without a result. */
  private reported: Tokens | undefined;
  private cost: number | undefined;

  constructor(log: TaskLog, folder: string, env: NodeJS.ProcessEnv) {
    this.log = log;
    this.folder = folder;
    this.env = env;
  }

  get outcome(): AgentResult | undefined {
    return this.result;
  }

  /**
   * Whether the agent has used its model, and has said something or used a tool. A command that the program handles
   * itself uses no model, and a refusal says nothing.
   */
  get hasWorked(): boolean {
    const hasUsedModel = (this.reportedTurns ?? this.turns) > 0 || totalOf(this.tokens ?? NO_TOKENS) > 0;
    return hasUsedModel && (this.turns > 0 || Boolean(this.result?.text));
  }

  /** Tokens since the start of the session; undefined if the agent does not report them. */
  get tokensSpent(): Tokens | undefined {
    const [one, other] = [this.tokens, this.reported].map((tokens) => totalOf(tokens ?? NO_TOKENS));
    return (one ?? 0) > (other ?? 0) ? this.tokens : this.reported;
  }

  /** Cost since the start of the session, in US dollars; undefined if the agent does not report it. */
  get costSpent(): number | undefined {
    return this.cost;
  }

  /** Last warning, if no other event followed it. */
  get lastWarning(): Warning | undefined {
    return this.warning;
  }

  /** End of the limit that the agent has reached, if it reported one, in milliseconds since 1970. */
  get limitEndsAt(): number | undefined {
    return this.limitEnd;
  }

  add(event: AgentEvent): void {
    if (this.noted(event)) return;
    if (event.kind === 'said' && event.partial) {
      this.saying += event.text;
      this.warning = undefined;
      return;
    }
    this.finishSaying();
    this.warning = event.kind === 'warned' ? event : undefined;
    switch (event.kind) {
      case 'started':
        this.started(event.model, event.hasKey);
        return;
      case 'said':
        this.addText(event.text);
        return;
      case 'toolUse':
        this.used(event);
        return;
      case 'toolResult':
        this.log.print('output', event.text, { level: event.failed ? 'warn' : 'debug', max: MAX_RESULT_CHARACTERS });
        return;
      case 'refused':
      case 'warned':
        this.log.print('agent', event.text, { level: 'warn' });
        return;
      case 'result':
        this.result = event;
        this.book(event);
        this.log.add('agent', event.text || this.lastText, {
          level: event.succeeded ? 'info' : 'error',
          prefix: 'result',
        });
    }
  }

  /** Stores what an event reports without interrupting the agent's text. Returns false for other events. */
  private noted(event: AgentEvent): boolean {
    if (event.kind === 'limited') this.limitEnd = event.endsAt;
    if (event.kind === 'spent') {
      this.reported = event.tokens ?? this.reported;
      this.cost = event.costUsd ?? this.cost;
    }
    return ['limited', 'spent', 'heard', 'unheard'].includes(event.kind);
  }

  /** Claude Code repeats this event for each turn. */
  private started(model: string | undefined, hasKey: boolean | undefined): void {
    this.hasKey = hasKey ?? this.hasKey;
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.model = model;
    this.log.add('agent', `Started${model ? ` with ${model}` : ''}.`);
  }

  /** Logs the text that the agent was writing, when no further part follows. */
  finishSaying(): void {
    if (this.saying !== '') this.addText(this.saying);
    this.saying = '';
  }

  work(): AgentWork {
    return {
      summary: shortened(this.log.redact(this.result?.text || this.lastText), MAX_SUMMARY_CHARACTERS),
      model: this.model,
      commands: this.commands,
      tools: Object.fromEntries(this.tools),
      turns: this.reportedTurns ?? this.turns,
      tokens: this.tokensSpent,
      costUsd: isPaidByUse(this.hasKey, this.env) ? this.cost : undefined,
    };
  }

  /** Adds a result to the sums. A background task can continue a session, which then has several results. */
  private book({ turns, tokens, tokensOf, costUsd }: AgentResult): void {
    this.cost = costUsd ?? this.cost;
    if (turns !== undefined) this.reportedTurns = (this.reportedTurns ?? 0) + turns;
    if (tokens === undefined) return;
    this.tokens = tokensOf === 'session' ? tokens : addTokens(this.tokens ?? NO_TOKENS, tokens);
  }

  private addText(text: string): void {
    this.lastText = text;
    this.turns += 1;
    this.log.print('agent', text);
  }

  private used({ tool, command, file }: ToolUse): void {
    this.turns += 1;
    this.countTool(cut(this.log.redact(tool), MAX_TOOL_CHARACTERS));
    if (command !== undefined) {
      if (this.commands.length < MAX_COMMANDS)
        this.commands.push(shortened(this.log.redact(command), MAX_COMMAND_CHARACTERS));
      this.log.print('command', command, { prefix: tool });
      return;
    }
    const path = file?.replace(`${this.folder}/`, '');
    this.log.print('tool', path === undefined ? tool : `${tool} ${path}`, { prefix: tool });
  }

  private countTool(tool: string): void {
    const name = this.tools.has(tool) || this.tools.size < MAX_TOOLS ? tool : OTHER_TOOLS;
    this.tools.set(name, (this.tools.get(name) ?? 0) + 1);
  }
}
