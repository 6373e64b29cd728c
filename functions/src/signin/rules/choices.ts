/** Data that the server and the sign-in page exchange. */
import type { Role } from '../../identity/rules/role.ts';

/** Reason why the sign-in cannot continue. The page has one text for each reason. */
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

/** Data for the form in which a person, after signing in, chooses the access of the app. */
export interface Offer {
  /** Secret that the page sends with the decision. Together with the browser's cookie, it proves who decides. */
  readonly approval: string;
  readonly person: { readonly name: string; readonly email?: string };
  readonly agentName: string;
  /** Role that the form selects initially. */
  readonly role: Role;
  /** Roles that the person may choose, weakest first. */
  readonly roles: readonly Role[];
  readonly workspaces: readonly string[];
  readonly toolsets: readonly string[];
  /** Toolsets that the form selects initially. */
  readonly proposed: readonly string[];
  readonly readonly: { readonly value: boolean; readonly fixed: boolean };
}

export interface Decision {
  readonly agentName: string;
  readonly role: Role;
  /** Chosen workspace; undefined for all workspaces in which the person has a role. */
  readonly workspace: string | undefined;
  readonly toolsets: readonly string[];
  readonly readonly: boolean;
}
