/** That a pull request belongs to a task: `pullRequests/{repositoryId}-{number}`. */
export interface PullRequestLink {
  readonly repositoryId: number;
  readonly number: number;
  readonly owner: string;
  readonly repo: string;
  readonly taskId: string;
  readonly linkedBy: string;
  readonly linkedAt: Date;
}

export interface PullRequestLinks {
  find(repositoryId: number, number: number): Promise<PullRequestLink | undefined>;
}

/** What commits may change of links. */
export interface LinkChanges {
  readonly linkPullRequest: { readonly link: PullRequestLink };
}

declare module '../store.ts' {
  interface ChangeKinds extends LinkChanges {}
}
