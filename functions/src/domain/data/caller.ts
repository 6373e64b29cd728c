import type { Principal } from '../principal.ts';

/** On whose behalf a database is read, written or watched: the security rules decide about this one. */
export interface Caller {
  readonly principal: Principal;
  /** The bearer credential of the call: a person's ID token, or an agent's own credential. */
  readonly credential: string;
}
