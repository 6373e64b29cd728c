/** Error that the user can fix; its message explains the problem and the next step. */
export class Mistake extends Error {}
