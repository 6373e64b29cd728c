/** Runs a coding agent until it finishes, is stopped, or prints nothing for too long. */
import type { AgentEvent, AgentProgram, AgentResult, AgentSession, RunWishes, Said } from '../agents/agent.ts';
import { totalOf } from '../agents/agent.ts';
import { startAgent } from '../agents/startAgent.ts';
import { resetIn } from '../outage/reset.ts';
import type { Exit, Program } from '../process/program.ts';
import { createKeyBlockRedactor } from '../redaction/keyBlocks.ts';
import { cut } from '../text.ts';
import type { Conversation } from './conversation.ts';
import { AttemptFailure, classify, type FailureClass } from './failure.ts';
import type { TaskLog } from './log.ts';
import { SilenceWatch } from './silenceWatch.ts';
import { Transcript } from './transcript.ts';

/** Time for a coding agent to exit after its result, in milliseconds. */
const FAREWELL_MS = 3000;
const MAX_COMPLAINTS = 200;
const MAX_COMPLAINT_CHARACTERS = 4000;

/** Limits of one attempt, after which the agent is stopped. */
export interface Caps {
  readonly maxCostUsd?: number | undefined;
  readonly maxTokens?: number | undefined;
}

export interface AgentRunOptions {
  readonly agent: AgentProgram;
  readonly wishes: RunWishes;
  readonly caps: Caps;
  readonly prompt: string;
  /** Messages for the agent. */
  readonly conversation: Conversation;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly mark: string;
  readonly log: TaskLog;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Called when the agent's result has arrived, although its process may still be running. */
  readonly onResult: () => void;
}

export interface AgentRun {
  readonly transcript: Transcript;
  readonly exit: Exit | undefined;
  readonly failure: AttemptFailure | undefined;
}

type End = 'exited' | 'told' | 'silent' | 'missing';

const PROMPT_ID = 'prompt';

/**
 * Runs a coding agent. When the promise settles, its processes have ended.
 * @throws AttemptFailure if the agent cannot fulfill a wish
 */
export async function runAgent(options: AgentRunOptions): Promise<AgentRun> {
  const { agent, prompt, wishes, folder, env, mark, log, signal, silenceMs, conversation } = options;
  const listener = new AgentListener(options);
  try {
    const { program, session, commandLine } = await startAgent({
      agent,
      order: { prompt: { id: PROMPT_ID, text: prompt }, wishes, folder },
      env,
      mark,
      onEvent: (event) => listener.on(event),
      onLine: (line, stream, isProtocol) => listener.hear(line, stream, isProtocol),
    });
    log.add('system', commandLine, { level: 'debug', prefix: 'runner' });
    listener.follow(session);
    const { end, exit } = await endOf(program, listener.watch, signal);
    conversation.detach();
    await program.end();
    listener.transcript.finishSaying();
    const { transcript, complaints, overBudget } = listener;
    const redact = (text: string): string => log.redact(text);
    const failure = failureOf({ agent, end, exit, transcript, complaints, silenceMs, redact, overBudget });
    return { transcript, exit, failure };
  } finally {
    conversation.detach();
    listener.watch.stop();
  }
}

/** Follows a session: logs its events, passes messages to the agent, and ends the session after the last turn. */
class AgentListener {
  readonly transcript: Transcript;
  readonly watch: SilenceWatch;
  readonly complaints: string[] = [];
  overBudget: string | undefined;
  private readonly options: AgentRunOptions;
  private readonly withoutKeys = { stdout: createKeyBlockRedactor(), stderr: createKeyBlockRedactor() };
  private session: AgentSession | undefined;
  /** Messages that the agent's program has neither passed to the agent nor dropped. */
  private readonly open = new Set<string>();
  /** Whether the last turn has ended. */
  private isIdle = false;
  private isOver = false;

  constructor(options: AgentRunOptions) {
    this.options = options;
    this.transcript = new Transcript(options.log, options.folder, options.env);
    this.watch = new SilenceWatch(options.silenceMs, () => this.explainSilence());
  }

  follow(session: AgentSession): void {
    this.session = session;
    if (this.isOver) session.finish();
    else this.options.conversation.attach((message) => this.say(message));
  }

  hear(line: string, stream: 'stdout' | 'stderr', isProtocol: boolean): void {
    this.watch.activity();
    if (!isProtocol) this.print(line, stream);
  }

  on(event: AgentEvent): void {
    this.transcript.add(event);
    const { conversation } = this.options;
    if (event.kind === 'heard' || event.kind === 'unheard') {
      this.open.delete(event.id);
      if (event.kind === 'heard') {
        this.isIdle = false;
        if (event.id === PROMPT_ID) conversation.promptHeard();
        else conversation.heard(event.id);
      } else if (this.isIdle) this.finishIfDone();
    } else if (event.kind === 'spent') {
      this.checkCaps();
    } else if (event.kind === 'result') {
      this.isIdle = true;
      if (event.succeeded) this.finishIfDone();
      else this.finish();
    }
  }

  private say(message: Said): boolean {
    if (this.isOver || this.session === undefined) return false;
    this.open.add(message.id);
    this.session.say(message);
    return true;
  }

  private finishIfDone(): void {
    if (this.open.size === 0) this.finish();
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.session?.finish();
    if (this.watch.expect(FAREWELL_MS)) this.options.onResult();
  }

  /** Stops the agent before its next step if it has spent more than the task allows. */
  private checkCaps(): void {
    const { maxTokens, maxCostUsd } = this.options.caps;
    const { tokensSpent, costSpent = 0 } = this.transcript;
    const tokens = tokensSpent === undefined ? 0 : totalOf(tokensSpent);
    const over = [
      ...(maxTokens !== undefined && tokens > maxTokens ? [`${tokens} tokens of at most ${maxTokens}`] : []),
      ...(maxCostUsd !== undefined && costSpent > maxCostUsd ? [`$${costSpent} of at most $${maxCostUsd}`] : []),
    ];
    if (over.length === 0 || this.overBudget !== undefined) return;
    this.overBudget = `${this.options.agent.program} used ${over.join(' and ')}, and was stopped.`;
    this.session?.interrupt();
    this.watch.expect(FAREWELL_MS);
  }

  private explainSilence(): void {
    const { agent, log, silenceMs } = this.options;
    const text = `No output from ${agent.program} for ${silenceMs / 2000} s. It may be waiting for its model.`;
    log.add('system', text, { level: 'warn', prefix: 'runner' });
  }

  private print(line: string, stream: 'stdout' | 'stderr'): void {
    const safe = this.withoutKeys[stream](line);
    if (safe === undefined) return;
    if (this.complaints.length < MAX_COMPLAINTS)
      this.complaints.push(cut(this.options.log.redact(safe), MAX_COMPLAINT_CHARACTERS));
    const level = stream === 'stderr' ? 'warn' : 'info';
    this.options.log.print('output', safe, { prefix: this.options.agent.program, level });
  }
}

async function endOf(
  program: Program,
  watch: SilenceWatch,
  signal: AbortSignal,
): Promise<{ end: End; exit: Exit | undefined }> {
  const reported = new Promise<End>((resolve) => {
    if (signal.aborted) resolve('told');
    signal.addEventListener('abort', () => resolve('told'), { once: true });
  });
  let exit: Exit | undefined;
  const exited = program.exited.then<End, End>(
    (how) => {
      exit = how;
      return 'exited';
    },
    () => 'missing',
  );
  const end = await Promise.race([exited, reported, watch.silent.then<End>(() => 'silent')]);
  return { end, exit };
}

interface Ended {
  readonly agent: AgentProgram;
  readonly end: End;
  readonly exit: Exit | undefined;
  readonly transcript: Transcript;
  readonly complaints: readonly string[];
  readonly silenceMs: number;
  readonly redact: (text: string) => string;
  readonly overBudget: string | undefined;
}

function failureOf(ended: Ended): AttemptFailure | undefined {
  const { agent, end, exit, transcript, complaints, silenceMs, redact, overBudget } = ended;
  const { outcome, lastWarning, limitEndsAt } = transcript;
  if (overBudget !== undefined) return new AttemptFailure('over_budget', overBudget, { retryable: false });
  if (outcome?.succeeded && transcript.hasWorked) return undefined;
  const { program } = agent;
  if (end === 'missing') return new AttemptFailure('cli_missing', `${program} could not be started.`);
  if (outcome !== undefined) return failureIn(outcome, ended);
  if (end === 'told') return new AttemptFailure('cancelled', 'The work was stopped.');
  const status = lastWarning?.httpStatus;
  if (end === 'silent')
    return withReset(
      status === undefined ? 'no_output' : classify('', status),
      `${program} printed nothing for ${silenceMs / 1000} s and was stopped.`,
      limitEndsAt,
    );
  const how = exit?.signal ?? `exit code ${exit?.code ?? 'unknown'}`;
  const complaint = shortComplaint([redact(lastWarning?.text ?? ''), ...complaints]);
  const failureClass = classify(complaint, status);
  return withReset(failureClass, `${program} ended with ${how} before its result. ${complaint}`.trim(), limitEndsAt);
}

function failureIn(outcome: AgentResult, { agent, transcript, complaints, redact }: Ended): AttemptFailure {
  const nothing = outcome.succeeded ? 'It reported success, but did no work.' : '';
  const complaint = shortComplaint([nothing, redact(outcome.text), ...complaints]);
  const failureClass = outcome.failureClass ?? classify(complaint, outcome.httpStatus);
  const message = `${agent.program}: ${complaint}`;
  if (outcome.isFinal || failureClass === 'over_budget')
    return new AttemptFailure(failureClass, message, { retryable: false });
  return withReset(failureClass, message, transcript.limitEndsAt);
}

/** @param limitEndsAt end of the limit from an event of the CLI; takes precedence over a time in the message */
function withReset(failureClass: FailureClass, message: string, limitEndsAt: number | undefined): AttemptFailure {
  const resetsAt = failureClass === 'rate_limit' ? (limitEndsAt ?? resetIn(message, Date.now())) : undefined;
  return new AttemptFailure(failureClass, message, resetsAt === undefined ? {} : { resetsAt });
}

function shortComplaint(lines: readonly string[]): string {
  return cut(lines.filter(Boolean).join('\n'), MAX_COMPLAINT_CHARACTERS).trim();
}
