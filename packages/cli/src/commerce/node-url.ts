import { usageError } from '../exit-codes.ts'

export function nodeUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw usageError(`--url: not a URL: ${text}`)
  return new URL(text).origin
}

export function walletArgument(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw usageError(`not a wallet address: ${text}`)
  return text
}
