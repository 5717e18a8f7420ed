// Runs inside the page under test, which has other globals than a test; page-checks.ts puts it there.
globalThis.assayChecks = {
  /** Things that a keyboard reaches and a screen reader cannot name. */
  namelessControls() {
    const nameOf = (element) =>
      [
        element.getAttribute('aria-label'),
        document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent,
        [...(element.labels ?? [])].map((label) => label.textContent).join(' '),
        element.textContent,
      ].find((text) => text?.trim())
    return [...document.querySelectorAll('a[href], button, input, select, textarea, [role="img"]')]
      .filter((element) => !nameOf(element))
      .map((element) => element.outerHTML.slice(0, 120))
  },

  /** Texts whose contrast is below WCAG AA against what is painted behind them. */
  faintTexts() {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    const known = new Map()
    const parse = (text) => {
      if (known.has(text)) return known.get(text)
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = text
      canvas.fillRect(0, 0, 1, 1)
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
      known.set(text, [r, g, b, a / 255])
      return known.get(text)
    }
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1]
    const behind = (element) => {
      if (element === null) return [255, 255, 255, 1]
      const colour = parse(getComputedStyle(element).backgroundColor)
      return colour[3] >= 0.999 ? colour : over(colour, behind(element.parentElement))
    }
    const part = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
    const leftAlone = 'svg, [disabled], .visually-hidden, .skip, noscript, option'
    const hasText = (element) =>
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '')
    return [...document.querySelectorAll('body *')].flatMap((element) => {
      if (!hasText(element) || element.closest(leftAlone) !== null || element.getClientRects().length === 0) return []
      const style = getComputedStyle(element)
      const background = behind(element)
      const [one, other] = [light(over(parse(style.color), background)), light(background)]
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
      const size = Number.parseFloat(style.fontSize)
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      const enough = large ? 3 : 4.5
      return ratio >= enough
        ? []
        : [`${ratio.toFixed(2)} ${element.tagName} ${element.textContent.trim().slice(0, 40)}`]
    })
  },

  /** How far the page is wider than its window. */
  overflowPx() {
    return Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)
  },

  /** Everything that was loaded, as it travelled. */
  loadedBytes() {
    const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    return entries.reduce((sum, entry) => sum + entry.encodedBodySize, 0)
  },

  focused() {
    return document.activeElement?.id || document.activeElement?.textContent
  },
}
