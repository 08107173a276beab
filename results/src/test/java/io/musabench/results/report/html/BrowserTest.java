package io.musabench.results.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** The report in a real browser. Skipped, and says so, where there is none. */
class BrowserTest {
  /** Of WCAG 2.2 AA: for text, and for lines and marks. */
  private static final double TEXT_CONTRAST = 4.5;

  private static final double GRAPHICS_CONTRAST = 3;

  /** Nothing here takes so long, not even on a machine that has hardly a CPU for it. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static ChromeDriver driver;
  private static Path folder;
  private static Path page;

  @BeforeAll
  static void open(@TempDir Path temporary) throws IOException {
    Optional<Path> browser = first("/usr/bin/chromium", "/usr/bin/chromium-browser");
    Optional<Path> chromedriver = first("/usr/bin/chromedriver");
    assumeTrue(
        browser.isPresent() && chromedriver.isPresent(),
        "skipped: no chromium with chromedriver in /usr/bin (Debian: chromium, chromium-driver)");
    ChromeOptions options = new ChromeOptions();
    options.setBinary(browser.get().toFile());
    options.addArguments(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--disable-quic",
        "--lang=en-US");
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    logs.enable(LogType.PERFORMANCE, Level.ALL);
    options.setCapability("goog:loggingPrefs", logs);
    driver =
        new ChromeDriver(
            new ChromeDriverService.Builder()
                .usingDriverExecutable(chromedriver.get().toFile())
                .build(),
            options);
    driver.manage().timeouts().scriptTimeout(PATIENCE);
    folder = Files.createDirectories(temporary.resolve("runs"));
    page = temporary.resolve("report.html");
    new ReportFixture(folder).full().write(page);
  }

  private static Optional<Path> first(String... paths) {
    return Stream.of(paths).map(Path::of).filter(Files::isExecutable).findFirst();
  }

  @AfterAll
  static void close() {
    if (driver != null) {
      driver.quit();
    }
  }

  @BeforeEach
  void load() {
    driver.manage().window().setSize(new Dimension(1400, 1000));
    logs(LogType.PERFORMANCE);
    logs(LogType.BROWSER);
    load(page);
    script("localStorage.clear()");
    load(page);
  }

  private static void load(Path file) {
    driver.get(file.toUri().toString());
    ready();
  }

  /** Until every chart is drawn. */
  private static void ready() {
    until(
        "the page is ready",
        () -> "true".equals(script("return document.documentElement.dataset.ready")));
  }

  private static void until(String what, BooleanSupplier holds) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!holds.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      pause();
    }
  }

  /** How many elements a selector finds. */
  private static int count(String selector) {
    return ((Number) script("return document.querySelectorAll(arguments[0]).length", selector))
        .intValue();
  }

  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object script(String text, Object... arguments) {
    return driver.executeScript(text, arguments);
  }

  private static List<LogEntry> logs(String type) {
    return driver.manage().logs().get(type).getAll();
  }

  private static void choose(String id, String value) {
    driver.findElement(By.cssSelector("#" + id + " option[value=" + value + "]")).click();
    ready();
  }

  private static void noErrors() {
    assertThat(logs(LogType.BROWSER)).isEmpty();
  }

  @Test
  void everyChartIsDrawn() {
    List<WebElement> plots = driver.findElements(By.cssSelector("[data-chart]"));
    assertThat(plots).hasSizeGreaterThan(20);
    for (WebElement plot : plots) {
      String id = plot.getDomAttribute("data-chart");
      assertThat(Integer.parseInt(plot.getDomAttribute("data-points"))).as(id).isPositive();
      assertThat(((Number) script(COLOURS, plot)).intValue()).as(id).isGreaterThan(5);
      assertThat(plot.getDomAttribute("aria-label")).as(id).hasSizeGreaterThan(60);
    }
    noErrors();
  }

  private static final String COLOURS =
      """
      const canvas = arguments[0].querySelector('canvas');
      const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3] > 0) {
          seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
        }
      }
      return seen.size;
      """;

  @Test
  void noRequestLeavesThePage() throws IOException {
    AtomicInteger hits = new AtomicInteger();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          hits.incrementAndGet();
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    try {
      List<String> requested = new ArrayList<>();
      for (LogEntry entry : logs(LogType.PERFORMANCE)) {
        if (entry.getMessage().contains("Network.requestWillBeSent\"")) {
          requested.add(entry.getMessage());
        }
      }
      assertThat(requested).isNotEmpty().allMatch(m -> m.contains("\"url\":\"file://"));
      // And one that a script tries is stopped.
      Object stopped =
          driver.executeAsyncScript(
              """
              const done = arguments[1];
              const seen = [];
              addEventListener('securitypolicyviolation', e => {
                if (seen.push(e.effectiveDirective) === 2) {
                  done(seen.sort().join(' '));
                }
              });
              new Image().src = arguments[0] + 'image';
              fetch(arguments[0] + 'fetch').catch(() => {});
              """,
              "http://127.0.0.1:" + server.getAddress().getPort() + "/");
      assertThat(stopped).isEqualTo("connect-src img-src");
      assertThat(hits).hasValue(0);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void hostileTextIsText() {
    assertThat(script("return window.hacked")).isNull();
    assertThat(driver.findElements(By.tagName("img"))).isEmpty();
    assertThat(driver.findElements(By.tagName("b"))).isEmpty();
    assertThat(driver.findElement(By.id("failures")).getText()).contains("<img src=x onerror=");
    assertThat(driver.findElement(By.id("serving")).getText()).contains("<img src=x onerror=");
    // What gets past it all would still not be parsed: strings are no markup here.
    Object thrown =
        script(
            "try { document.body.innerHTML = '<i>'; return 'parsed'; }"
                + " catch (e) { return e.name; }");
    assertThat(thrown).isEqualTo("TypeError");
  }

  @Test
  void languageSwitches() {
    assertThat(script("return document.documentElement.lang")).isEqualTo("en");
    List<String> english = headings();
    choose("language", "zh");
    assertThat(script("return document.documentElement.lang")).isEqualTo("zh-CN");
    List<String> chinese = headings();
    assertThat(chinese).hasSameSizeAs(english).allMatch(h -> h.matches(".*\\p{IsHan}.*"));
    assertThat(driver.findElement(By.tagName("main")).getText())
        .doesNotContain("column.", "note.", "table.", "chart.");
    load(page);
    assertThat(script("return document.documentElement.lang")).as("kept").isEqualTo("zh-CN");
    noErrors();
  }

  @Test
  void sentencesOfTheDataAreChinese() {
    choose("language", "zh");
    @SuppressWarnings("unchecked")
    Map<String, List<String>> english = (Map<String, List<String>>) script(ENGLISH);
    assertThat(english.get("unmarked")).isEmpty();
    // What others wrote stays, and says which language it is.
    assertThat(english.get("marked")).isNotEmpty().allMatch(t -> t.contains("img src=x"));
    assertThat(driver.findElement(By.cssSelector(".verdict")).getText())
        .contains("\u8fd0\u884c\u524d\u5e73\u5747\u8d1f\u8f7d")
        .doesNotContain("load average");
    choose("language", "en");
    assertThat(driver.findElement(By.cssSelector(".verdict")).getText()).contains("load average");
    assertThat(driver.findElements(By.cssSelector("main [lang]"))).isEmpty();
    noErrors();
  }

  /** Three words of English in a row, but for names, commands and what is marked. */
  private static final String ENGLISH =
      """
      const found = {unmarked: [], marked: [...document.querySelectorAll('[lang=en]')].map(e => e.textContent)};
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        const content = walker.currentNode.textContent;
        if (/[A-Za-z]{2,},?( [a-z]{2,}){2}/.test(content)
            && !e.closest('script, noscript, code, option, .code, [lang=en]')) {
          found.unmarked.push(content);
        }
      }
      return found;
      """;

  private static List<String> headings() {
    return driver.findElements(By.cssSelector("main h2")).stream()
        .map(h -> h.getDomProperty("textContent"))
        .toList();
  }

  @Test
  void textHasContrastInBothThemes() {
    for (String theme : List.of("light", "dark")) {
      choose("theme", theme);
      @SuppressWarnings("unchecked")
      List<Map<String, Object>> low = (List<Map<String, Object>>) script(CONTRAST, TEXT_CONTRAST);
      assertThat(low).as(theme).isEmpty();
      @SuppressWarnings("unchecked")
      List<String> faint = (List<String>) script(PALETTE, GRAPHICS_CONTRAST);
      assertThat(faint).as(theme).isEmpty();
    }
    noErrors();
  }

  private static final String LUMINANCE =
      """
      const rgb = text => {
        const hex = /^#(..)(..)(..)$/.exec(text);
        return hex ? hex.slice(1).map(h => parseInt(h, 16)) : text.match(/[\\d.]+/g).map(Number);
      };
      const luminance = colour => {
        const [r, g, b] = rgb(colour).map(v => v / 255)
          .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const contrast = (a, b) => {
        const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05);
      };
      """;

  private static final String CONTRAST =
      LUMINANCE
          + """
          const ground = e => {
            for (; e; e = e.parentElement) {
              const c = getComputedStyle(e).backgroundColor;
              if (c !== 'rgba(0, 0, 0, 0)') {
                return c;
              }
            }
            return 'rgb(255, 255, 255)';
          };
          const low = [];
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const e = walker.currentNode.parentElement;
            const skipped = /^(SCRIPT|NOSCRIPT|STYLE)$/.test(e.tagName) || e.disabled;
            if (!skipped && walker.currentNode.textContent.trim() && e.getClientRects().length) {
              const c = contrast(getComputedStyle(e).color, ground(e));
              if (c < arguments[0] && low.length < 5) {
                low.push({text: walker.currentNode.textContent, contrast: c});
              }
            }
          }
          return low;
          """;

  private static final String PALETTE =
      LUMINANCE
          + """
          const style = getComputedStyle(document.documentElement);
          const ground = style.getPropertyValue('--ground').trim();
          const names = ['--limit', '--sheet-1', '--sheet-2'];
          for (let i = 1; i <= 8; i++) {
            names.push('--series-' + i, '--predicted-' + i);
          }
          return names.filter(n => contrast(style.getPropertyValue(n).trim(), ground) < arguments[0]);
          """;

  @Test
  void filterLeavesWhatMatches() {
    WebElement plot = driver.findElement(By.cssSelector("[data-chart='roofline-A']"));
    int all = Integer.parseInt(plot.getDomAttribute("data-points"));
    driver.findElement(By.id("filter")).sendKeys("decodestep graph 8q1s1k");
    until("two cases are left", () -> count("[data-table=cases] tbody tr") == 2);
    assertThat(driver.findElement(By.cssSelector("[data-table=cases]")).getText())
        .contains("8q1s1k")
        .doesNotContain("q1s4k");
    assertThat(Integer.parseInt(plot.getDomAttribute("data-points"))).isLessThan(all);
    WebElement piles = driver.findElement(By.cssSelector("[data-chart='kernels-decode']"));
    assertThat(piles.getDomAttribute("data-categories")).isEqualTo("2");
    assertThat(driver.findElement(By.id("live")).getDomProperty("textContent")).startsWith("2 of");
    noErrors();
  }

  @Test
  void worksFromTheKeyboard() {
    WebElement plot = driver.findElement(By.cssSelector("[data-chart]"));
    plot.sendKeys(Keys.ARROW_RIGHT);
    String first = script("return document.getElementById('live').textContent").toString();
    plot.sendKeys(Keys.ARROW_RIGHT);
    String second = script("return document.getElementById('live').textContent").toString();
    assertThat(first).contains("measured").isNotEqualTo(second);
    WebElement column =
        driver.findElement(By.cssSelector("[data-table=cases] [data-column=device_time]"));
    column.sendKeys(Keys.ENTER);
    assertThat(
            script(
                "return document.querySelector('[data-table=cases] [aria-sort=ascending]')"
                    + ".textContent"))
        .asString()
        .startsWith("Device time");
    // Everything that can be used can be reached, and says what it is.
    @SuppressWarnings("unchecked")
    List<String> nameless =
        (List<String>)
            script(
                """
                return [...document.querySelectorAll('button, a, select, input, [tabindex="0"]')]
                  .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))
                  .map(e => e.outerHTML.slice(0, 80));
                """);
    assertThat(nameless).isEmpty();
    noErrors();
  }

  @Test
  void dataBehindAChartIsATable() {
    WebElement figure = driver.findElement(By.cssSelector("#steps figure"));
    figure.findElement(By.tagName("summary")).sendKeys(Keys.ENTER);
    until("a table", () -> !figure.findElements(By.cssSelector("tbody tr")).isEmpty());
    assertThat(figure.findElements(By.cssSelector("tbody tr"))).hasSizeGreaterThan(5);
    // The link is filled in when it is used.
    Object csv =
        driver.executeAsyncScript(
            """
            const done = arguments[1];
            const link = arguments[0].querySelector('a.csv');
            const made = URL.createObjectURL;
            URL.createObjectURL = blob => {
              blob.text().then(done);
              return made(blob);
            };
            link.click();
            """,
            figure);
    assertThat(csv.toString())
        .contains("series,kind,requests,latency_us,low_us,high_us,case,command")
        .contains("MEASURED")
        .contains("scripts/musabench run DecodeStep");
  }

  @Test
  void fitsANarrowScreenAndPaper() {
    driver.manage().window().setSize(new Dimension(500, 900));
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", 400, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    load(page);
    assertThat(((Number) script("return document.documentElement.scrollWidth")).intValue())
        .isLessThanOrEqualTo(400);
    driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
    choose("theme", "dark");
    Map<String, Object> pdf =
        driver.executeCdpCommand("Page.printToPDF", Map.of("printBackground", false));
    byte[] bytes = Base64.getDecoder().decode(pdf.get("data").toString());
    assertThat(new String(bytes, 0, 4, StandardCharsets.US_ASCII)).isEqualTo("%PDF");
    assertThat(bytes.length).isGreaterThan(100_000);
    assertThat(script("return document.documentElement.dataset.theme")).isEqualTo("dark");
    noErrors();
  }

  @Test
  void paperHasTheRowsThatAScreenPages() throws IOException {
    Path large = page.resolveSibling("print.html");
    new HtmlReport(List.of(new ReportFixture(folder).manyCases(620))).write(large);
    load(large);
    choose("theme", "dark");
    script(
        """
        addEventListener('beforeprint', () => {
          const table = document.querySelector('[data-table=cases]');
          window.paper = {
            rows: table.querySelectorAll('tbody tr').length,
            cut: table.querySelector('.cut').textContent,
            theme: document.documentElement.dataset.theme,
          };
        });
        """);
    int sheets = sheets();
    assertThat(script("return window.paper.rows")).isEqualTo(500L);
    assertThat(script("return window.paper.cut").toString())
        .contains("500 of 620")
        .contains("cases.csv");
    assertThat(script("return window.paper.theme")).isEqualTo("light");
    assertThat(sheets).isGreaterThan(8);
    until("back on the screen", () -> count("[data-table=cases] tbody tr") == 25);
    assertThat(script("return document.querySelector('[data-table=cases] .cut').textContent"))
        .isEqualTo("");
    assertThat(script("return document.documentElement.dataset.theme")).isEqualTo("dark");
    noErrors();
  }

  /** Prints, and counts the sheets. */
  private static int sheets() {
    Map<String, Object> pdf =
        driver.executeCdpCommand("Page.printToPDF", Map.of("printBackground", false));
    byte[] bytes = Base64.getDecoder().decode(pdf.get("data").toString());
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    return (int) Pattern.compile("/Type /Page\\b").matcher(text).results().count();
  }

  @Test
  void printMediaShowsWhatPaperShows() throws IOException {
    driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("media", "print"));
    try {
      until("all rows", () -> count("[data-table=step-kernels] tbody tr") > 25);
      assertThat(driver.findElement(By.cssSelector(".only-print")).isDisplayed()).isTrue();
      assertThat(driver.findElement(By.id("filter")).isDisplayed()).isFalse();
      // Paper does not scroll: a column beyond its edge is lost.
      driver.executeCdpCommand(
          "Emulation.setDeviceMetricsOverride",
          Map.of("width", 718, "height", 1000, "deviceScaleFactor", 1, "mobile", false));
      @SuppressWarnings("unchecked")
      List<String> wide =
          (List<String>)
              script(
                  "return [...document.querySelectorAll('[data-table] table')]"
                      + ".filter(t => t.getBoundingClientRect().right > innerWidth + 1)"
                      + ".map(t => t.closest('[data-table]').dataset.table)");
      assertThat(wide).isEmpty();
    } finally {
      driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
      driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("media", ""));
    }
    noErrors();
  }

  @Test
  void fiveThousandCasesStayUsable() throws IOException {
    Path large = page.resolveSibling("large.html");
    long began = System.nanoTime();
    new HtmlReport(List.of(new ReportFixture(folder).manyCases(5000))).write(large);
    double made = (System.nanoTime() - began) / 1e9;
    began = System.nanoTime();
    load(large);
    double loaded = (System.nanoTime() - began) / 1e9;
    assertThat(driver.findElements(By.cssSelector("[data-table=cases] tbody tr"))).hasSize(25);
    Number filtered =
        (Number)
            driver.executeAsyncScript(
                """
                const done = arguments[0];
                const filter = document.getElementById('filter');
                filter.value = 'number=4999';
                const began = performance.now();
                filter.dispatchEvent(new Event('input'));
                const look = () =>
                  document.querySelectorAll('[data-table=cases] tbody tr').length === 1
                    ? done(performance.now() - began)
                    : setTimeout(look, 5);
                look();
                """);
    System.out.printf(
        "5000 cases: made in %.1f s, %.1f MB, loaded and drawn in %.2f s, filtered in %.0f ms%n",
        made, Files.size(large) / 1e6, loaded, filtered.doubleValue());
    // Tens of times what they take: what grows with the square of the cases would be longer still.
    assertThat(loaded).isLessThan(60);
    assertThat(filtered.doubleValue()).isLessThan(30_000);
    noErrors();
  }
}
