/** How lists are read: each is bounded, ordered and continued from a cursor. */

/** The place after which a list goes on: the sort time and the id of the last item given. */
export interface Position {
  readonly at: Date;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly after?: Position;
}

/** A page of a list: at most its limit, and fewer where the items are large. */
export interface Slice<Item> {
  readonly items: readonly Item[];
  /** Whether the list goes on after these. */
  readonly more: boolean;
}

/** A part of a walk over what is due. Each has its place, at which the walk may be left and taken up again. */
export interface Batch<Item> {
  readonly found: readonly { readonly item: Item; readonly place: Position }[];
  /** Where the walk goes on, where it does. */
  readonly next?: Position;
}

export interface Found<Item> {
  readonly items: readonly Item[];
  /** Where the list goes on, where it does; a page may be shorter than asked for and go on all the same. */
  readonly next?: Place;
}

/** The place after which a list goes on: what it is ordered by, in the last item looked at, and its id. */
export interface Place {
  readonly order: readonly number[];
  readonly id: string;
}
