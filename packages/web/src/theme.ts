// Loaded before the first paint, so that a chosen theme never flashes the other one.
const chosen = localStorage.getItem('assay.theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
