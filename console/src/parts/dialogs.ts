/** State of the dialogs that the frame shows once for all screens. Their code is loaded when they open. */
import { signal } from '@preact/signals';

export interface Addressee {
  readonly agentId: string;
  readonly taskId?: string;
}

/** Agent to which a message is written. */
export const addressee = signal<Addressee | undefined>(undefined);

export type Question = { readonly task: string } | { readonly run: string };

/** Item of which the person asks why it is as it is. */
export const askedWhy = signal<Question | undefined>(undefined);
