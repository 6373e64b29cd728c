/** Whether the dialog for a new workspace is open. */
import { signal } from '@preact/signals';

/** Name with which the dialog opens; undefined while it is closed. */
export const isMakingWorkspace = signal<string | undefined>(undefined);
