export {
  type Account,
  type AccountKind,
  accountOwner,
  accounts,
  accountWord,
  chainAccount,
  unitAccount,
  unitOf,
} from './accounts.ts'
export { balancesDueSql, checkBalances, foundDifferences } from './check-balances.ts'
export { InsufficientBalance, LedgerConflict, LedgerRefused } from './errors.ts'
export {
  type BooksRange,
  type ExportedAccount,
  type ExportedTransaction,
  exportAccounts,
  exportTransactions,
  newestPosting,
} from './export-books.ts'
export { addPostings, joinPostings, mergeLines } from './join-postings.ts'
export { lockAccounts, lockBalances } from './lock-accounts.ts'
export { addPayToPart, payToPartOf, takePayToPart } from './pay-to-part.ts'
export { type PostOutcome, post, postSql, postValues, postValuesWithoutTransfers } from './post.ts'
export {
  balanceDifferences,
  balanceOf,
  entriesOf,
  heldOf,
  type LedgerEntryView,
  type OpenClearing,
  openClearing,
  owedTo,
  type TrialBalance,
  trialBalance,
} from './read.ts'
export { reversalReference, reverse } from './reverse.ts'
export {
  type BooksGroup,
  booksByGroup,
  type DayTurnover,
  entriesSinceSql,
  groupBalancesSql,
  openClearingSinceRollup,
  turnoverByDay,
} from './roll-up-books.ts'
export { type SealBreak, type SealHead, sealBooks, sealHead, verifySeals } from './seal.ts'
export { credit, debit, type LedgerLine, type LedgerTransaction, type TransferTurn } from './transaction.ts'
export {
  type MovedMoney,
  postponeTransfer,
  recordedUpTo,
  releaseTransfer,
  type TransferPosting,
  type TransferRow,
  takeTransfer,
  takeTransfers,
  transfersOfKey,
  unexplainedTransfers,
} from './transfers.ts'
