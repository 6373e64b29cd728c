/** Runs a coding agent until it finishes, is stopped, or prints nothing for too long. */
import type { CodingCli, RunWishes } from '../clis/cli.ts';
import { resetIn } from '../outage/reset.ts';
import { type Exit, type Program, startProgram } from '../process/program.ts';
import { createKeyBlockRedactor } from '../redaction/keyBlocks.ts';
import { cut } from '../text.ts';
import { AttemptFailure, classify, type FailureClass } from './failure.ts';
import type { TaskLog } from './log.ts';
import { SilenceWatch } from './silenceWatch.ts';
import { Transcript } from './transcript.ts';

/** Time for a coding agent to exit after its result, in milliseconds. */
const FAREWELL_MS = 3000;
const MAX_COMPLAINTS = 200;
const MAX_COMPLAINT_CHARACTERS = 4000;

export interface AgentRunOptions {
  readonly cli: CodingCli;
  readonly wishes: RunWishes;
  readonly prompt: string;
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

/**
 * Runs a coding agent. When the promise settles, its processes have ended and its temporary files are deleted.
 * @throws AttemptFailure if the agent's CLI cannot express an allowed tool
 */
export async function runAgent(options: AgentRunOptions): Promise<AgentRun> {
  const { cli, wishes, folder, env } = options;
  const { args, dispose } = cli.prepare(wishes, { folder, env });
  try {
    return await runWith(args, options);
  } finally {
    dispose();
  }
}

async function runWith(args: readonly string[], options: AgentRunOptions): Promise<AgentRun> {
  const { cli, prompt, folder, env, mark, log, signal, silenceMs } = options;
  const listener = new AgentListener(options);
  log.add('system', `${cli.program} ${args.join(' ')}`, { level: 'debug', prefix: 'runner' });
  const program = startProgram({
    program: cli.program,
    args,
    cwd: folder,
    env,
    mark,
    input: prompt,
    onOutput: (line, stream) => listener.hear(line, stream),
  });
  const { end, exit } = await endOf(program, listener.watch, signal);
  await program.end().finally(() => listener.watch.stop());
  listener.transcript.finishSaying();
  const { transcript, complaints } = listener;
  const redact = (text: string): string => log.redact(text);
  return { transcript, exit, failure: failureOf({ cli, end, exit, transcript, complaints, silenceMs, redact }) };
}

/** Separates the agent's events from other output of the agent and of the programs that it runs. */
class AgentListener {
  readonly transcript: Transcript;
  readonly watch: SilenceWatch;
  readonly complaints: string[] = [];
  private readonly options: AgentRunOptions;
  private readonly withoutKeys = { stdout: createKeyBlockRedactor(), stderr: createKeyBlockRedactor() };

  constructor(options: AgentRunOptions) {
    this.options = options;
    this.transcript = new Transcript(options.log, options.folder, options.env);
    this.watch = new SilenceWatch(options.silenceMs);
  }

  hear(line: string, stream: 'stdout' | 'stderr'): void {
    this.watch.activity();
    const events = stream === 'stdout' ? this.options.cli.read(line) : undefined;
    if (events === undefined) {
      this.print(line, stream);
      return;
    }
    for (const event of events) this.transcript.add(event);
    if (this.transcript.outcome !== undefined && this.watch.expect(FAREWELL_MS)) this.options.onResult();
  }

  private print(line: string, stream: 'stdout' | 'stderr'): void {
    const safe = this.withoutKeys[stream](line);
    if (safe === undefined) return;
    if (this.complaints.length < MAX_COMPLAINTS)
      this.complaints.push(cut(this.options.log.redact(safe), MAX_COMPLAINT_CHARACTERS));
    const level = stream === 'stderr' ? 'warn' : 'info';
    this.options.log.print('output', safe, { prefix: this.options.cli.program, level });
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
  readonly cli: CodingCli;
  readonly end: End;
  readonly exit: Exit | undefined;
  readonly transcript: Transcript;
  readonly complaints: readonly string[];
  readonly silenceMs: number;
  readonly redact: (text: string) => string;
}

function failureOf({ cli, end, exit, transcript, complaints, silenceMs, redact }: Ended): AttemptFailure | undefined {
  const { outcome, lastWarning, limitEndsAt } = transcript;
  if (outcome?.succeeded && transcript.hasWorked) return undefined;
  const { program } = cli;
  if (end === 'missing') return new AttemptFailure('cli_missing', `${program} could not be started.`);
  if (outcome !== undefined) {
    const nothing = outcome.succeeded ? 'It reported success, but took no turn and used no token.' : '';
    const complaint = shortComplaint([nothing, redact(outcome.text), ...complaints]);
    const failureClass = classify(complaint, { status: outcome.httpStatus, program, exitCode: exit?.code });
    return withReset(failureClass, `${program}: ${complaint}`, limitEndsAt);
  }
  if (end === 'told') return new AttemptFailure('cancelled', 'The work was stopped.');
  const status = lastWarning?.httpStatus;
  if (end === 'silent')
    return withReset(
      status === undefined ? 'no_output' : classify('', { status }),
      `${program} printed nothing for ${silenceMs / 1000} s and was stopped.`,
      limitEndsAt,
    );
  const how = exit?.signal ?? `exit code ${exit?.code ?? 'unknown'}`;
  const complaint = shortComplaint([redact(lastWarning?.text ?? ''), ...complaints]);
  return withReset(
    classify(complaint, { status, program, exitCode: exit?.code }),
    `${program} ended with ${how} before its result. ${complaint}`.trim(),
    limitEndsAt,
  );
}

/** @param limitEndsAt end of the limit from an event of the CLI; takes precedence over a time in the message */
function withReset(failureClass: FailureClass, message: string, limitEndsAt: number | undefined): AttemptFailure {
  const resetsAt = failureClass === 'rate_limit' ? (limitEndsAt ?? resetIn(message, Date.now())) : undefined;
  return new AttemptFailure(failureClass, message, resetsAt === undefined ? {} : { resetsAt });
}

function shortComplaint(lines: readonly string[]): string {
  return cut(lines.filter(Boolean).join('\n'), MAX_COMPLAINT_CHARACTERS).trim();
}
