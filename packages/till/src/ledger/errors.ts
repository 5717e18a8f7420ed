/** The same reference was posted before with other lines: the caller mixed two things up. Nothing was posted. */
export class LedgerConflict extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerConflict'
  }
}

/** What is owed to somebody would fall below zero. Nothing was posted. */
export class InsufficientBalance extends Error {
  constructor(options?: ErrorOptions) {
    super('the account does not hold that much', options)
    this.name = 'InsufficientBalance'
  }
}

/** A posting that can never be right: unbalanced, empty, or with an amount the books cannot hold. */
export class LedgerRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerRefused'
  }
}
