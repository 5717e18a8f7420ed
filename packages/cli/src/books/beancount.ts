import type { ExportedAccount, ExportedTransaction } from '@assay/node'

const roots = {
  asset: 'Assets',
  liability: 'Liabilities',
  income: 'Income',
  expense: 'Expenses',
  clearing: 'Equity',
} as const

type Named = Pick<ExportedAccount, 'name' | 'kind'>

/** `credit_bonded:0x…@eip155:8453` becomes `Liabilities:CreditBonded:0x…:Eip155-8453`: different names stay different. */
export function accountName({ name, kind }: Named): string {
  const [title = '', network] = name.split('@')
  const parts = [...title.split(':'), ...(network === undefined ? [] : [network.replaceAll(/[:/]/g, '.')])]
  return [roots[kind], ...parts.map(component)].join(':')
}

function component(text: string): string {
  const plain = text
    .replaceAll('-', '--')
    .replaceAll('.', '-')
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .replaceAll('_', '-0-')
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}

/** Assets of different chains are different units: nothing is netted between them. A commodity has 24 letters at most. */
export function commodity(unit: string): string {
  const [network, asset] = unit.split('/')
  if (asset === undefined) return unit.toUpperCase()
  const [, token] = asset.split('erc20:0x')
  if (token !== undefined) return `T${network?.split(':')[1]}-${token.slice(-10).toUpperCase()}`
  return `${asset === 'gas' ? 'GWEI' : asset.toUpperCase()}.${network?.replace(':', '-').toUpperCase()}`
}

export function amountOf(amount: bigint, unit: string): string {
  if (!unit.endsWith('/usdc') && !unit.includes('/erc20:')) return amount.toString()
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const quoted = (text: string) =>
  `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/[\r\n]+/g, ' ')}"`
const figure = (amount: bigint, unit: string) => `${amountOf(amount, unit)} ${commodity(unit)}`
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

export const head = (from: string): string =>
  ['option "title" "Assay"', 'option "operating_currency" "USDC.EIP155-8453"', `${from} open Equity:Opening`].join('\n')

export function openAccount(account: ExportedAccount, from: string): string {
  const { unit, opening } = account
  const name = accountName(account)
  const opened = `${from} open ${name} ${commodity(unit)}\n  account: ${quoted(account.name)}`
  if (opening === 0n) return opened
  return [
    opened,
    `${from} * "Opening balance"`,
    `  ${name}  ${figure(opening, unit)}`,
    `  Equity:Opening  ${figure(-opening, unit)}`,
  ].join('\n')
}

export function transactionText(transaction: ExportedTransaction): string {
  const { id, reference, kind, paymentId, memo, createdAt, lines } = transaction
  return [
    `${dayOf(createdAt)} * ${quoted(kind)} ${quoted(memo)}`,
    `  posting: ${quoted(id.toString())}`,
    `  reference: ${quoted(reference)}`,
    ...(paymentId === null ? [] : [`  payment: ${quoted(paymentId)}`]),
    `  time: ${quoted(createdAt.toISOString())}`,
    ...lines.map(
      ({ account, kind: of, unit, amount }) => `  ${accountName({ name: account, kind: of })}  ${figure(amount, unit)}`,
    ),
  ].join('\n')
}

/** The reader of the file adds up the postings and compares: at the start of the day after the last. */
export const balanceText = (account: ExportedAccount, dayAfter: string): string =>
  `${dayAfter} balance ${accountName(account)}  ${figure(account.closing, account.unit)}`
