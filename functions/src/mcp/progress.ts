/** The progress notifications of one call. Source: MCP 2025-11-25, "Progress". */
import type { Waiting } from '../kernel/waiting.ts';
import type { CallContext, Progress } from './callContext.ts';

/** Clients have time limits of 10 seconds and more, which many start again with each notification. */
const EVERY_MS = 5_000;

/** Each number must be larger than the one before; a thousand waits are less than one step of a tool's own. */
const LEAST_STEP = 0.001;

/** How a call says how far it has come. */
export interface Progressing {
  readonly send: (progress: Progress) => void;
  /** Awaits something that takes its time. */
  readonly during: Waiting;
}

/** Sends progress to a client that has given a token. */
export class ProgressReport implements Progressing {
  readonly #notify: CallContext['notify'];
  readonly #progressToken: string | number;
  #sent = 0;

  constructor(notify: CallContext['notify'], progressToken: string | number) {
    this.#notify = notify;
    this.#progressToken = progressToken;
  }

  readonly send = ({ progress, ...rest }: Progress): void => {
    this.#sent = Math.max(progress, this.#sent + LEAST_STEP);
    const params = { progressToken: this.#progressToken, progress: this.#sent, ...rest };
    this.#notify({ method: 'notifications/progress', params });
  };

  /** Sends progress at intervals while a wait lasts, so that the client does not give up. */
  readonly during: Waiting = async (wait) => {
    const timer = setInterval(() => this.send({ progress: 0, message: 'Still waiting.' }), EVERY_MS).unref();
    try {
      return await wait;
    } finally {
      clearInterval(timer);
    }
  };
}
