/** Error that the user can fix. Its message explains the problem and the next step. */
export class Mistake extends Error {}
