/** What the bodies of all requests under way may hold of an instance's memory together. */
import type { ServerResponse } from 'node:http';

/** Of each body, so that a small one finds room whatever others hold: at 80 requests at once these are 5 MiB. */
const FREE_BYTES = 64 * 1024;

/** An instance has 512 MiB, of which it takes a third for itself, and what is made of a body as much again. */
const ROOM_BYTES = 96 * 1024 * 1024;

export class BodyRoom {
  private readonly bytes: number;
  private held = 0;

  constructor(bytes = ROOM_BYTES) {
    this.bytes = bytes;
  }

  /**
   * Holds the room of one body until its request has been answered.
   * @returns asks for room for so many bytes in all; false where there is none
   */
  open(response: ServerResponse): (bytes: number) => boolean {
    let own = 0;
    let isOver = response.closed;
    response.once('close', () => {
      isOver = true;
      this.held -= own;
    });
    return (bytes) => {
      const more = Math.max(0, bytes - FREE_BYTES) - own;
      if (isOver || (more > 0 && this.held + more > this.bytes)) return false;
      this.held += more;
      own += more;
      return true;
    };
  }
}
