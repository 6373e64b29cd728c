/** What a request to GitHub is made of, and whose it is. */
import type { Octokit } from '@octokit/core';
import type { KnownAnswers } from './knownAnswers.ts';

export interface Client {
  readonly octokit: Octokit;
  /** Whether a token of the App's installation stands behind it, which can be had anew. */
  readonly renewable: boolean;
  /** By which answers are kept apart; none are kept without it. */
  readonly credential?: string;
  readonly known: KnownAnswers;
}

export interface Answer {
  readonly route: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly data: unknown;
}

export interface Asking {
  /** Beside the template's variables: the query or the body. `headers` and `request` are octokit's. */
  readonly [parameter: string]: unknown;
}
