"""What to write for names of scipy.signal, scipy.integrate, scipy.optimize, scipy.interpolate and scipy.stats."""

from __future__ import annotations

_SCIPYS = "it is not there: outside of derivatives, xt.callback calls SciPy's function of the values"
_RECURSION = (
    'write the recursion as a step, and xt.scan(step, state, x, dim="time"); of FIR filters, xt.signal.convolve'
)
_MADE = 'make it by SciPy, and pass the array: xt.array(values, dims="time")'
_DESIGNED = 'design filters by SciPy, and pass their coefficients: xt.array(scipy.signal.firwin(65, 0.2), dims="lag")'
_SEGMENTS = 's = x.isel(time=xt.arange(0, x.sizes["time"] - n + 1, n // 2, dim="segment") + xt.arange(n, dim="lag"))'
_SPECTRA = f'write {_SEGMENTS}, and xt.fft.rfft(s * window, "lag")'
_PEAKS = 'write xt.nonzero((x > x.shift(time=1)) & (x > x.shift(time=-1)))["time"]'
_MEDIANS = "write x.rolling(time=3, center=True, min_periods=1).median()"
_ANALYTIC = (
    'z = xt.fft.ifft(xt.fft.fft(x, "time") * (1 + xt.sign(f) * (xt.abs(f) < 0.5)), "time"), '
    'with f = xt.fft.fftfreq(n, dim="time")'
)
_STEPS = "it is not there: write xt.scan over the steps of the solver, or xt.while_loop if their number is open"
_RULE = "write xt.dot(weights, f(nodes)), with nodes and weights of np.polynomial.legendre.leggauss, along one dim"
_MINIMUM = "write xt.optim.lbfgs(f, start), or SciPy's with jac=True and xt.value_and_grad(f)"
_SQUARES = "write xt.optim.lbfgs(lambda p: xt.square(model(p, x) - y).sum(), start)"
_ROOT = "write the steps as xt.while_loop(going_on, step, start), and xt.implicit(residual, solve) for derivatives"
_SPLINES = "it is not there: xt.interp is linear. Make splines by SciPy's, outside of derivatives"
# Orders, prototypes and forms of filters, responses, splines.
_OTHERS = """
    BadCoefficients CZT StateSpace TransferFunction ZerosPolesGain ZoomFFT abcd_normalize band_stop_obj besselap
    bilinear bilinear_zpk bode buttap buttord cheb1ap cheb1ord cheb2ap cheb2ord check_COLA check_NOLA
    choose_conv_method closest_STFT_dual_window cont2discrete correlation_lags cspline1d cspline1d_eval cspline2d
    czt czt_points dbode deconvolve dfreqresp dimpulse dlsim dlti dstep ellipap ellipord find_peaks_cwt findfreqs
    freqresp freqs freqs_zpk freqz freqz_sos freqz_zpk gauss_spline group_delay hilbert2 impulse invres invresz
    istft kaiser_atten kaiser_beta kaiserord lfilter_zi lfiltic lombscargle lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp
    lp2hp_zpk lp2lp lp2lp_zpk lsim lti medfilt2d peak_prominences peak_widths place_poles qspline1d qspline1d_eval
    qspline2d residue residuez sepfir2d sos2tf sos2zpk sosfilt_zi sosfreqz spline_filter ss2tf ss2zpk step tf2sos
    tf2ss tf2zpk unique_roots vectorstrength wiener zoom_fft zpk2sos zpk2ss zpk2tf
"""

# Of xt.signal alone.
SIGNAL: dict[str, str] = {
    "oaconvolve": 'write xt.signal.convolve(x, k, dims=("time", "lag"), method="fft")',
    "correlate": 'write xt.signal.convolve(x, xt.conj(xt.flip(k, dim="lag")), dims=("time", "lag"))',
    **dict.fromkeys(("convolve2d", "correlate2d"),
                    'write xt.nn.conv(x, k, {"h": "kh", "w": "kw"}): it correlates; xt.flip(k) makes it a convolution'),
    **dict.fromkeys(("lfilter", "sosfilt", "filtfilt", "sosfiltfilt", "symiirorder1", "symiirorder2"), _RECURSION),
    **dict.fromkeys(("periodogram", "welch", "csd", "coherence"), f'{_SPECTRA}: its square is the power of a segment'),
    **dict.fromkeys(("stft", "spectrogram", "ShortTimeFFT"), _SPECTRA),
    **dict.fromkeys(("find_peaks", "argrelmax", "argrelextrema"), _PEAKS), "argrelmin": _PEAKS.replace(">", "<"),
    "medfilt": _MEDIANS,
    "order_filter": 'write xt.sort(x.rolling(time=3, center=True).construct("lag"), "lag").isel(lag=rank)',
    "detrend": 'write x - xt.polyval(t, xt.polyfit(t, x, 1)), with t = xt.arange(x.sizes["time"] * 1.0, dim="time")',
    "resample": 'write xt.fft.irfft(xt.fft.rfft(x, "time"), "time", n=m) * (m / x.sizes["time"]), of odd sizes',
    **dict.fromkeys(("decimate", "resample_poly", "upfirdn"),
                    'write xt.signal.convolve with a low pass, and y.thin(time=2)'),
    "savgol_filter": 'write xt.signal.convolve(x, k, dims=("time", "lag"), mode="same"), with '
                     'k = xt.array(scipy.signal.savgol_coeffs(5, 2), dims="lag")',
    "hilbert": f"write {_ANALYTIC}", "envelope": f"write xt.abs(z), of {_ANALYTIC}",
    **dict.fromkeys(("windows", "get_window"), 'write xt.array(scipy.signal.get_window("hann", n), dims="time")'),
    **dict.fromkeys(("chirp", "gausspulse", "max_len_seq", "sawtooth", "square", "sweep_poly", "unit_impulse"), _MADE),
    **dict.fromkeys(("bessel", "butter", "cheby1", "cheby2", "ellip", "firls", "firwin", "firwin2", "firwin_2d",
                     "gammatone", "iircomb", "iirdesign", "iirfilter", "iirnotch", "iirpeak", "minimum_phase", "remez",
                     "savgol_coeffs"), _DESIGNED),
}  # fmt: skip
SIGNAL |= dict.fromkeys(_OTHERS.split(), _SCIPYS)

# Whatever the module.
FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("solve_ivp", "ode", "solve_bvp", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"), _STEPS),
    **dict.fromkeys(("quad", "quad_vec", "fixed_quad", "dblquad", "tplquad", "nquad", "romb", "cubature"), _RULE),
    **dict.fromkeys(("simpson", "simps"), 'write xt.trapezoid(y, x, dim="time")'),
    **dict.fromkeys(("cumulative_trapezoid", "cumtrapz", "cumulative_simpson"),
                    'write (y.rolling(time=2).mean() * dx).isel(time=slice(1, None)).cumsum("time")'),
    **dict.fromkeys(("minimize", "minimize_scalar", "fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b"), _MINIMUM),
    **dict.fromkeys(("basinhopping", "brute", "differential_evolution", "dual_annealing", "shgo", "linprog", "milp",
                     "linear_sum_assignment", "isotonic_regression", "nnls", "lsq_linear"), _SCIPYS),
    **dict.fromkeys(("curve_fit", "least_squares", "leastsq"), _SQUARES),
    **dict.fromkeys(("root", "root_scalar", "fsolve", "newton", "brentq", "brenth", "bisect", "ridder", "toms748",
                     "fixed_point", "newton_krylov"), _ROOT),
    "approx_fprime": "write xt.grad(f)(x)", "check_grad": "write xt.testing.check_gradients(f, x)",
    "interp1d": "write xt.interp(x, xp, fp)", "interp2d": "write xt.interp along one dim, then along the other",
    **dict.fromkeys(("interpn", "RegularGridInterpolator"), "write xt.interp along one dim after the other"),
    **dict.fromkeys(("CubicSpline", "BSpline", "PchipInterpolator", "Akima1DInterpolator", "UnivariateSpline",
                     "make_interp_spline", "make_smoothing_spline", "RBFInterpolator", "griddata"), _SPLINES),
    "stats": "moments are xt.mean, xt.var and xt.quantile, draws are in xt.random; write densities as formulas",
    "linregress": "write xt.polyfit(x, y, 1), the slope first", "pearsonr": 'write xt.corr(x, y, "time")',
    "zscore": 'write (x - x.mean("time")) / x.std("time")', "iqr": 'write xt.quantile(x, 0.75) - xt.quantile(x, 0.25)',
    "skew": 'write ((x - x.mean("time")) ** 3).mean("time") / x.std("time") ** 3',
    "kurtosis": 'write ((x - x.mean("time")) ** 4).mean("time") / x.std("time") ** 4 - 3',
    "sem": 'write x.std("time", ddof=1) / math.sqrt(x.sizes["time"])',
    **dict.fromkeys(("gaussian_filter", "gaussian_filter1d", "convolve1d"),
                    'write xt.signal.convolve(x, k, dims=("time", "lag"), mode="same"), for each dim'),
    **dict.fromkeys(("uniform_filter", "uniform_filter1d"),
                    "write x.rolling(time=3, center=True, min_periods=1).mean()"),
    **dict.fromkeys(("maximum_filter", "maximum_filter1d"),
                    "write x.rolling(time=3, center=True, min_periods=1).max()"),
    **dict.fromkeys(("minimum_filter", "minimum_filter1d"),
                    "write x.rolling(time=3, center=True, min_periods=1).min()"),
    "median_filter": _MEDIANS, "map_coordinates": "write xt.interp along one dim after the other",
}  # fmt: skip


def anywhere(name: str) -> str | None:
    """What to write for a name, whatever the module."""
    found = FUNCTIONS.get(name) or SIGNAL.get(name)
    return found if name in FUNCTIONS or found != _SCIPYS else None
