/** How a repository is named; domain/github/names.ts checks what callers give. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}
