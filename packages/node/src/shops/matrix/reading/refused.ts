/** Why a file was not taken. The code is stable and stored; the detail is for the operator. */
export type RefusalCode =
  | 'empty'
  | 'too_large'
  | 'encoding'
  | 'html'
  | 'header'
  | 'row'
  | 'number'
  | 'date'
  | 'future_date'
  | 'duplicate'
  | 'order'
  | 'trailer'
  | 'count'
  | 'archive'
  | 'bomb'
  | 'xml'
  | 'json'
  | 'unknown_format'
  | 'placeholder'

export class FileRefused extends Error {
  override readonly name = 'FileRefused'
  readonly code: RefusalCode

  constructor(code: RefusalCode, detail: string) {
    super(detail.slice(0, 400))
    this.code = code
  }
}

export function refuse(code: RefusalCode, detail: string): never {
  throw new FileRefused(code, detail)
}

/** Text from a file, short and printable, for a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
