/** The fonts that every reader has know Latin letters only; the HTML has all others. */
export const latin = (text: string): string => text.replaceAll(/[^\n\x20-\x7e\xa0-\xff]/gu, '?')

export type PdfPage = {
  text(given: string, size?: number): void
  gap(): void
}

/** A document of running text. The same content and time give the same text on the same pages. */
export async function makePdf(title: string, at: Date, write: (page: PdfPage) => void): Promise<Buffer> {
  // Loaded when somebody first asks for one.
  const { default: PdfDocument } = await import('pdfkit')
  const pdf = new PdfDocument({ size: 'A4', margin: 50, info: { Title: title, CreationDate: at, ModDate: at } })
  const parts: Buffer[] = []
  const ended = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (part: Buffer) => parts.push(part))
    pdf.on('end', () => resolve(Buffer.concat(parts)))
    pdf.on('error', reject)
  })
  write({ text: (given, size = 10) => pdf.fontSize(size).text(latin(given)), gap: () => pdf.moveDown() })
  pdf.end()
  return ended
}
