/** Something an agent found out and shares: `discoveries/{id}`. */
export interface Discovery {
  readonly id: string;
  readonly workspace: string;
  readonly session: string;
  readonly agentId: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly createdAt: Date;
}
