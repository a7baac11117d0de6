"""A scikit-learn classifier that tells a monitor of all it predicts: wrap it once, use it as before."""

from sklearn.base import BaseEstimator, ClassifierMixin

import evenhand


class Watched(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose predictions are sent to a monitor."""

    def __init__(self, classifier, url, token, favorable=1):
        self.classifier, self.url, self.token, self.favorable = classifier, url, token, favorable

    def __sklearn_is_fitted__(self):
        """Tell that there is nothing to fit."""
        return True

    @property
    def classes_(self):
        """The classifier's own."""
        return self.classifier.classes_

    def predict_proba(self, X):
        """Predict, and have the monitor told."""
        chances = self.classifier.predict_proba(X)
        if not hasattr(self, "_monitor"):
            self._monitor = evenhand.Monitor(self.url, self.token)
        self._monitor.send(X, scores=chances[:, list(self.classes_).index(self.favorable)])
        return chances

    def predict(self, X):
        """Return the likeliest class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
