/** What an agent did, told from its events. */
import type { AgentEvent, AgentResult, ToolUse, Warning } from '../clis/cli.ts';
import { cut, shortened } from '../text.ts';
import type { TaskLog } from './log.ts';
import { isPaidByUse } from './payment.ts';

const MAX_COMMANDS = 200;
const MAX_COMMAND_CHARACTERS = 1000;
const MAX_RESULT_CHARACTERS = 4000;
const MAX_SUMMARY_CHARACTERS = 20_000;

/** Agents choose the names: those beyond the limit are counted together. */
const MAX_TOOLS = 200;
const MAX_TOOL_CHARACTERS = 100;
const OTHER_TOOLS = 'other';

export interface AgentWork {
  readonly summary: string;
  readonly model: string | undefined;
  readonly commands: readonly string[];
  /** How often it used which tool. */
  readonly tools: Readonly<Record<string, number>>;
  readonly turns: number;
  readonly tokens: AgentResult['tokens'];
  /** Where somebody pays by use. */
  readonly costUsd: number | undefined;
}

export class Transcript {
  private readonly log: TaskLog;
  /** Of the worktree: what the agent calls its files by. */
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;
  private readonly tools = new Map<string, number>();
  private readonly commands: string[] = [];
  private model: string | undefined;
  private hasKey: boolean | undefined;
  private lastSaid = '';
  /** What it is just saying, in parts. */
  private saying = '';
  private turns = 0;
  private result: AgentResult | undefined;
  private warning: Warning | undefined;

  /** @param env the agent's */
  constructor(log: TaskLog, folder: string, env: NodeJS.ProcessEnv) {
    this.log = log;
    this.folder = folder;
    this.env = env;
  }

  /** The agent's last word, once it is spoken. */
  get outcome(): AgentResult | undefined {
    return this.result;
  }

  /** What was wrong last, where nothing has come since. */
  get lastWarning(): Warning | undefined {
    return this.warning;
  }

  add(event: AgentEvent): void {
    if (event.kind === 'said' && event.partial) {
      this.saying += event.text;
      this.warning = undefined;
      return;
    }
    this.finishSaying();
    this.warning = event.kind === 'warned' ? event : undefined;
    switch (event.kind) {
      case 'started':
        this.model = event.model;
        this.hasKey = event.hasKey;
        this.log.add('agent', `Started${event.model ? ` with ${event.model}` : ''}.`);
        return;
      case 'said':
        this.said(event.text);
        return;
      case 'toolUse':
        this.used(event);
        return;
      case 'toolResult':
        this.log.print('output', event.text, {
          level: event.failed ? 'warn' : 'debug',
          most: MAX_RESULT_CHARACTERS,
        });
        return;
      case 'warned':
        this.log.print('agent', event.text, { level: 'warn' });
        return;
      case 'result':
        this.result = event;
        this.log.add('agent', event.text || this.lastSaid, {
          level: event.succeeded ? 'info' : 'error',
          prefix: 'result',
        });
    }
  }

  /** Logs what it was in the middle of saying. */
  finishSaying(): void {
    if (this.saying !== '') this.said(this.saying);
    this.saying = '';
  }

  work(): AgentWork {
    return {
      summary: shortened(this.log.redact(this.result?.text || this.lastSaid), MAX_SUMMARY_CHARACTERS),
      model: this.model,
      commands: this.commands,
      tools: Object.fromEntries(this.tools),
      turns: this.result?.turns ?? this.turns,
      tokens: this.result?.tokens,
      costUsd: isPaidByUse(this.hasKey, this.env) ? this.result?.costUsd : undefined,
    };
  }

  private said(text: string): void {
    this.lastSaid = text;
    this.turns += 1;
    this.log.print('agent', text);
  }

  private used({ tool, command, file }: ToolUse): void {
    this.turns += 1;
    this.count(cut(this.log.redact(tool), MAX_TOOL_CHARACTERS));
    if (command !== undefined) {
      if (this.commands.length < MAX_COMMANDS)
        this.commands.push(shortened(this.log.redact(command), MAX_COMMAND_CHARACTERS));
      this.log.print('command', command, { prefix: tool });
      return;
    }
    const path = file?.replace(`${this.folder}/`, '');
    this.log.print('tool', path === undefined ? tool : `${tool} ${path}`, { prefix: tool });
  }

  private count(tool: string): void {
    const name = this.tools.has(tool) || this.tools.size < MAX_TOOLS ? tool : OTHER_TOOLS;
    this.tools.set(name, (this.tools.get(name) ?? 0) + 1);
  }
}
