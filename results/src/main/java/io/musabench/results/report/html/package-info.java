/**
 * The report as one HTML file: {@link HtmlReport} gathers what the other packages know into a JSON
 * model, and puts it with a template, a style sheet, scripts and the charting library into a page
 * that needs no network. Nothing is computed from text; no number is made here that the command
 * line would not print, but those of {@link SampleShape}.
 */
package io.musabench.results.report.html;
