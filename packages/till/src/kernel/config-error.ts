/** Stops the start. The message lists every problem, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.map((text) => `  - ${text}`).join('\n')}`,
    )
    this.problems = problems
  }
}
