/** What the sign-in page is told, and what it sends. */
import type { Role } from '../../identity/rules/role.ts';

/** Why the page cannot go on; it has a text for each. */
export type Hindrance =
  | 'expired'
  | 'other_browser'
  | 'no_role'
  | 'sign_in_again'
  | 'not_allowed'
  | 'name_taken'
  | 'invalid';

export class Hindered extends Error {
  readonly hindrance: Hindrance;

  constructor(hindrance: Hindrance) {
    super(`A sign-in cannot go on: ${hindrance}.`);
    this.name = 'Hindered';
    this.hindrance = hindrance;
  }
}

/** What somebody may choose from who has signed in. */
export interface Offer {
  /** Shows, with the browser's cookie, that the decision is theirs. */
  readonly approval: string;
  readonly person: { readonly name: string; readonly email?: string };
  readonly agentName: string;
  /** The one to begin with. */
  readonly role: Role;
  /** Weakest first. */
  readonly roles: readonly Role[];
  readonly workspaces: readonly string[];
  readonly toolsets: readonly string[];
  /** The toolsets that are ticked at first. */
  readonly proposed: readonly string[];
  readonly readonly: { readonly value: boolean; readonly fixed: boolean };
}

export interface Decision {
  readonly agentName: string;
  readonly role: Role;
  /** The only workspace; undefined for all in which the person has a role. */
  readonly workspace: string | undefined;
  readonly toolsets: readonly string[];
  readonly readonly: boolean;
}
