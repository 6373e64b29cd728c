/** Data that the sign-in page receives and sends. */
import type { Role } from '../../identity/rules/role.ts';

/** Reason why the page cannot continue. The page has a text for each. */
export type SignInErrorCode =
  | 'expired'
  | 'other_browser'
  | 'no_role'
  | 'sign_in_again'
  | 'not_allowed'
  | 'name_taken'
  | 'invalid';

export class SignInError extends Error {
  readonly code: SignInErrorCode;

  constructor(hindrance: SignInErrorCode) {
    super(`The sign-in cannot continue: ${hindrance}.`);
    this.name = 'Hindered';
    this.code = hindrance;
  }
}

/** Choices of a person who has signed in. */
export interface Offer {
  /** Secret that, together with the browser's cookie, proves that the decision is the person's. */
  readonly approval: string;
  readonly person: { readonly name: string; readonly email?: string };
  readonly agentName: string;
  /** Preselected role. */
  readonly role: Role;
  /** Weakest first. */
  readonly roles: readonly Role[];
  readonly workspaces: readonly string[];
  readonly toolsets: readonly string[];
  /** Preselected toolsets. */
  readonly proposed: readonly string[];
  readonly readonly: { readonly value: boolean; readonly fixed: boolean };
}

export interface Decision {
  readonly agentName: string;
  readonly role: Role;
  /** The only workspace; undefined for all workspaces in which the person has a role. */
  readonly workspace: string | undefined;
  readonly toolsets: readonly string[];
  readonly readonly: boolean;
}
