/** The latest of what is told, for a reader who may be slower. */
export class LatestValue<Value> {
  private value: Value | undefined;
  private error: unknown;
  private isClosed = false;
  private wake: () => void = () => undefined;

  tell(value: Value): void {
    this.value = value;
    this.wake();
  }

  readonly fail = (error: unknown): void => {
    this.error = error;
    this.close();
  };

  close(): void {
    this.isClosed = true;
    this.wake();
  }

  async *values(): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      const { value } = this;
      this.value = undefined;
      if (value !== undefined) {
        yield value;
        continue;
      }
      if (this.error !== undefined) throw this.error;
      if (this.isClosed) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
